// Polls the progress of a claim and shows it; loads the result when there is one.
// app/progress.py makes the same rows on the server for the first view.
const EAGER = 100; // milliseconds between polls until the first event, to show it at once
const FASTEST = 250;
const SLOWEST = 1000;
const LONGEST_PAUSE = 5000;
const ANSWER_WITHIN = 10000;
const ASK_WHY_EVERY = 2000;

const root = document.getElementById("progress");
const hops = document.getElementById("hops");
const pattern = document.getElementById("later-hop");
const opening = pattern.content.querySelector("li").dataset.stage; // the first stage of a hop
const bar = document.getElementById("bar");
const percent = document.getElementById("percent");
const elapsed = document.getElementById("elapsed");
const status = document.getElementById("status");
const note = document.getElementById("note");
const closing = document.querySelector("#closing li"); // the stage after the last hop, if any
const trouble = document.getElementById("trouble");

const opened = performance.now() - 1000 * Number(root.dataset.seconds);
let next = 0;
let pause = EAGER;
let failures = 0;
let begun = false;
let done = 0; // number of finished steps in the last event
let askAgainAt = performance.now() + ASK_WHY_EVERY;

function setRow(row, state, words) {
  row.className = state;
  row.querySelector(".state").textContent = words;
}

function lastHop() {
  return hops.lastElementChild;
}

function rowOf(stage) {
  return lastHop().querySelector(`[data-stage="${CSS.escape(stage)}"]`);
}

function addHop() {
  const number = hops.children.length + 1;
  hops.append(pattern.content.cloneNode(true));
  lastHop().dataset.hop = number;
  // The last allowed hop does not prepare another one.
  if (number === Number(root.dataset.mostHops)) rowOf("next")?.remove();
  lastHop().querySelector("h2 span").textContent = number;
}

function startAgain() {
  while (hops.children.length > 1) lastHop().remove();
  for (const row of hops.querySelectorAll("li")) {
    setRow(row, "waiting", "to come");
    row.querySelector(".message").textContent = "";
  }
  if (closing) {
    setRow(closing, "waiting", "to come");
    closing.querySelector(".message").textContent = "";
  }
}

function take(event) {
  if (event.stage === closing?.dataset.stage) {
    // This stage also sends events while it is running; these do not raise "done".
    if (event.done > done) setRow(closing, "done", "done");
    else setRow(closing, "running", "running");
    closing.querySelector(".message").textContent = event.message;
  } else if (event.stage === "start") {
    // A second start: the next statement, or the worker stopped and the claim starts again.
    if (begun) note.textContent = event.message;
    begun = false;
    startAgain();
  } else {
    begun = true;
    if (event.stage === opening && rowOf(opening).classList.contains("done")) addHop();
    const row = rowOf(event.stage);
    if (row) {
      setRow(row, "done", "done");
      row.querySelector(".message").textContent = event.message;
    }
  }
  done = event.done;
  const share = Math.floor((100 * event.done) / Math.max(1, event.of));
  bar.value = share;
  percent.textContent = `${share}%`;
}

function markUndone(state) {
  const over = closing && !closing.classList.contains("waiting");
  const working = state === "running" && next > 0 && !over;
  for (const hop of hops.children) {
    let passed = false; // a later stage of the hop is done
    let following = null;
    for (const row of [...hop.querySelectorAll("li")].reverse()) {
      if (row.classList.contains("done")) passed = true;
      else if (passed || over) setRow(row, "skipped", "not needed");
      else {
        setRow(row, "waiting", "to come");
        following = row;
      }
    }
    if (working && following && hop === lastHop()) setRow(following, "running", "running");
  }
}

function show(answer) {
  if (next === 0 && answer.events.length > 0) startAgain();
  for (const event of answer.events) take(event);
  next = answer.next;
  markUndone(answer.state);
  const last = answer.events.at(-1);
  if (last) say(last.message === note.textContent ? "" : last.message); // the note shows it already
  pause = last ? FASTEST : Math.min(SLOWEST, pause * 1.5);
}

function duration(seconds) {
  const minutes = Math.floor(seconds / 60);
  return minutes ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

function say(message) {
  // Screen readers read a live region again whenever it is set, so it is set only if it changes.
  if (status.textContent !== message) status.textContent = message;
}

async function showWhatItWaitsFor() {
  if (performance.now() < askAgainAt) return;
  askAgainAt = performance.now() + ASK_WHY_EVERY;
  const answer = await fetch(root.dataset.ready, { signal: AbortSignal.timeout(ANSWER_WITHIN) });
  const body = await answer.json();
  say(answer.ok ? "Waiting for its turn." : `${body.error.message} ${body.error.hint}`.replaceAll("`", ""));
}

async function poll() {
  try {
    const answer = await fetch(`${root.dataset.progress}?since=${next}`, {
      headers: { Accept: "application/json" },
      signal: AbortSignal.timeout(ANSWER_WITHIN),
    });
    if (answer.status === 404) {
      location.reload(); // the claim was deleted; its page says so
      return;
    }
    const body = await answer.json();
    if (!answer.ok) throw new Error(`${body.error.message} ${body.error.hint}`);
    failures = 0;
    trouble.hidden = true;
    show(body);
    if (body.state !== "queued" && body.state !== "running") {
      location.reload();
      return;
    }
    if (body.state === "queued") await showWhatItWaitsFor();
    setTimeout(poll, pause);
  } catch (error) {
    failures += 1;
    const wait = Math.min(LONGEST_PAUSE, SLOWEST * 2 ** (failures - 1));
    // Errors of fetch and JSON have other classes; only a plain Error has a message for people.
    const reason = error.constructor === Error ? error.message : "ESOTERIC cannot be reached.";
    const text = `${reason} Trying again automatically.`;
    if (trouble.textContent !== text || trouble.hidden) trouble.textContent = text;
    trouble.hidden = false;
    setTimeout(poll, wait);
  }
}

setInterval(() => {
  elapsed.textContent = `${duration(Math.floor((performance.now() - opened) / 1000))} so far`;
}, 500);
poll();
