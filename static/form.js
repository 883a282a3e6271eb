// Counts the characters of a claim, lets Enter send it, and shows which recipe is chosen.
const field = document.getElementById("claim");
const counter = document.getElementById("counter");
const spoken = document.getElementById("counter-spoken");
const most = Number(field.dataset.most);
const NEAR = 50;

function count() {
  // Counts as the server does: characters in NFC, not UTF-16 units, without invisible characters,
  // and several spaces as one.
  const shown = field.value.replace(/\p{Cf}/gu, "").replace(/\s+/g, " ").trim().normalize("NFC");
  const left = most - [...shown].length;
  counter.textContent = `${most - left} of ${most}`;
  counter.classList.toggle("over", left < 0);
  // Screen readers read this aloud, so it is set only near the limit.
  const message =
    left < 0 ? `${-left} characters too many` : left <= NEAR ? `${left} characters left` : "";
  if (spoken.textContent !== message) spoken.textContent = message;
}

field.addEventListener("input", count);
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    field.form.requestSubmit();
  }
});
counter.hidden = false;
count();

document.querySelector(".recipes")?.addEventListener("change", (event) => {
  document.getElementById("recipe-chosen").textContent = event.target.value;
  document.querySelector(".examples input").value = event.target.value;
});
