// Fills in a comparison while its checks are pending: loads the page again, and takes its new
// parts. What the reader has opened, ticked or focused stays.
const EVERY = 1000; // milliseconds
const LONGEST_PAUSE = 8000;
const ANSWER_WITHIN = 10000;

const shown = document.getElementById("comparison");
const status = document.getElementById("status");
const trouble = document.getElementById("trouble");
let failures = 0;

function fold(key, root) {
  return [...root.querySelectorAll("details")].find((one) => one.dataset.key === key);
}

function take(fresh) {
  const opened = [...shown.querySelectorAll("details[open]")].map((one) => one.dataset.key);
  const only = document.getElementById("differences")?.checked;
  const focused = shown.contains(document.activeElement) ? document.activeElement : null;
  const key = focused?.closest("summary") && focused.parentElement.dataset.key;
  shown.replaceChildren(...fresh.childNodes);
  for (const one of opened) fold(one, shown)?.setAttribute("open", "");
  const box = document.getElementById("differences");
  if (box) box.checked = Boolean(only);
  if (focused?.id) document.getElementById(focused.id)?.focus();
  else if (key) fold(key, shown)?.querySelector("summary").focus();
}

async function poll() {
  const began = performance.now();
  try {
    const answer = await fetch(location.href, { signal: AbortSignal.timeout(ANSWER_WITHIN) });
    if (answer.status === 404) {
      location.reload(); // all checks were deleted; the page says so
      return;
    }
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("comparison");
    failures = 0;
    trouble.hidden = true;
    if (shown.innerHTML !== fresh.innerHTML) take(fresh);
    document.title = page.title;
    const words = page.getElementById("status").textContent;
    if (status.textContent !== words) status.textContent = words;
    if (fresh.dataset.pending === "0") return;
    // A long list on a busy server is asked for less often.
    setTimeout(poll, Math.max(EVERY, 5 * (performance.now() - began)));
  } catch {
    failures += 1;
    trouble.textContent = "ESOTERIC cannot be reached. Trying again automatically.";
    trouble.hidden = false;
    setTimeout(poll, Math.min(LONGEST_PAUSE, EVERY * 2 ** failures));
  }
}

setTimeout(poll, EVERY);
