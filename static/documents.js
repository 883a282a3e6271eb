// Says before an upload whether it is too large, sends when files were last modified, and shows how
// far the indexing is. Without it the pages do the same, but for these dates.
const WAIT = 1000;

for (const input of document.querySelectorAll("input[type=file]")) {
  const problem = document.getElementById(`${input.id}-problem`);
  input.addEventListener("change", () => {
    const bytes = [...input.files].reduce((sum, file) => sum + file.size, 0);
    const most = Number(input.dataset.most);
    problem.hidden = bytes <= most;
    problem.textContent = problem.hidden
      ? ""
      : `These files have ${(bytes / 1e6).toFixed(0)} MB; at most ${(most / 1e6).toFixed(0)} MB are taken at once. Choose fewer.`;
    input.setCustomValidity(problem.textContent);
  });
  input.form.addEventListener("submit", () => {
    for (const file of input.files) {
      const field = document.createElement("input");
      Object.assign(field, { type: "hidden", name: "modified", value: String(file.lastModified) });
      input.form.append(field);
    }
    input.form.querySelector(".status").textContent = "Uploading …";
    input.form.querySelector("button").disabled = true;
  });
}

// The part of the page that changes is fetched again while the files are indexed.
async function follow() {
  const shown = document.getElementById("corpus");
  if (!shown?.hasAttribute("data-works")) return;
  shown.querySelector("noscript")?.remove();
  try {
    const answer = await fetch(shown.dataset.works, { headers: { Accept: "text/html" } });
    if (answer.status === 404) return location.reload();
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = page.getElementById("corpus");
    for (const without of page.querySelectorAll("noscript")) without.remove();
    // What has the focus stays, and a question that was opened.
    const used = shown.contains(document.activeElement) || shown.querySelector("details[open]");
    if (now && now.innerHTML !== shown.innerHTML && !used) {
      shown.replaceWith(document.adoptNode(now));
    }
  } catch {
    // The server may be restarting; the next try may work.
  }
  setTimeout(follow, WAIT);
}
setTimeout(follow, WAIT);
