// Copies the address of the page; without this script the link leads to it.
const link = document.getElementById("copy-link");
const said = document.getElementById("copied");

link?.addEventListener("click", async (event) => {
  if (!navigator.clipboard) return; // browsers have it only over HTTPS and on this computer
  event.preventDefault();
  try {
    await navigator.clipboard.writeText(link.href);
    said.textContent = "Link copied";
  } catch {
    said.textContent = `The browser does not allow copying. The link is ${link.href}`;
  }
});
