// Counts the characters of a claim, lets Enter send it, and says what will be done with it.
const field = document.getElementById("claim");
const form = field.form;
const counter = document.getElementById("counter");
const spoken = document.getElementById("counter-spoken");
const check = document.getElementById("check");
const says = document.getElementById("says");
const most = Number(field.dataset.most);
const NEAR = 50;
const PAUSE = 250;

function count() {
  // Counts as the server does: characters in NFC, not UTF-16 units, without invisible characters,
  // and several spaces as one.
  const shown = field.value.replace(/\p{Cf}/gu, "").replace(/\s+/g, " ").trim().normalize("NFC");
  const left = most - [...shown].length;
  counter.textContent = `${most - left} of ${most}`;
  counter.classList.toggle("over", left < 0);
  // Screen readers read this aloud, so it is set only near the limit. Above it the server's answer
  // says so, where it is asked.
  const over = says ? "" : `${-left} characters too many`;
  const message = left < 0 ? over : left <= NEAR ? `${left} characters left` : "";
  if (spoken.textContent !== message) spoken.textContent = message;
}

field.addEventListener("input", count);
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit(check ?? undefined);
  }
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
});
counter.hidden = false;
count();

document.querySelector(".recipes")?.addEventListener("change", (event) => {
  document.getElementById("recipe-chosen").textContent = event.target.value;
  const examples = document.querySelector(".examples input");
  if (examples) examples.value = event.target.value;
});

// Only the server knows the rules: it is asked while somebody types, and answers with a piece of
// the page. Until it has answered, it decides when the form is sent.
let waiting = 0;
let asked = new AbortController();

function show(answer) {
  check.textContent = answer.dataset.button;
  check.value = answer.dataset.as;
  if (answer.dataset.action) check.formAction = answer.dataset.action;
  else check.removeAttribute("formaction");
  const one = !["list", "text", "page"].includes(answer.dataset.kind);
  counter.hidden = !one || answer.querySelector("#claim-problem") !== null;
  if (!one) spoken.textContent = "";
}

async function ask() {
  asked.abort();
  asked = new AbortController();
  const body = new URLSearchParams(new FormData(form));
  body.delete("text");
  try {
    const answer = await fetch(form.dataset.says, { method: "POST", body, signal: asked.signal });
    if (!answer.ok) return;
    const html = await answer.text();
    if (says.innerHTML.trim() !== html.trim()) says.innerHTML = html;
    show(says.firstElementChild);
  } catch {
    // Another question was asked meanwhile, or the server does not answer: it decides later.
  }
}

function askSoon() {
  clearTimeout(waiting);
  asked.abort();
  check.value = "";
  check.removeAttribute("formaction");
  waiting = setTimeout(ask, PAUSE);
}

if (says) {
  form.addEventListener("input", askSoon);
  field.selectionStart = field.value.length;
  show(says.firstElementChild);
  // After "back" the browser fills the box again, but not what was said about it.
  window.addEventListener("pageshow", () => field.value !== field.defaultValue && ask());
}
