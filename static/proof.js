// Shows the evidence of a part of the claim in a card beside it, while the pointer or the focus is
// on the part, or after it is pressed. Without JavaScript the part is a link to the list below.
const OPEN_AFTER = 120; // so that a pointer that only crosses the claim opens nothing
const CLOSE_AFTER = 300; // so that the pointer can move from the part into the card
const MARGIN = 8;

const drawn = document.querySelector(".drawn");
const card = document.createElement("div");
card.className = "part-card";
card.popover = "manual";

let shown = null; // the part whose card is open
let kept = false; // it was pressed or focused, so the card stays until it is closed
let timer = 0;

function place(part, x) {
  const lines = [...part.getClientRects()];
  const line = lines.find((box) => x >= box.left && x <= box.right) ?? lines[0];
  const column = drawn.getBoundingClientRect();
  card.style.maxWidth = `${column.width}px`;
  const furthest = column.right - card.offsetWidth;
  const { top, bottom } = part.getBoundingClientRect();
  const above = top - card.offsetHeight - MARGIN;
  const fitsBelow = bottom + MARGIN + card.offsetHeight <= window.innerHeight;
  card.style.left = `${Math.max(column.left, Math.min(line.left, furthest)) + window.scrollX}px`;
  card.style.top = `${(fitsBelow || above < 0 ? bottom + MARGIN : above) + window.scrollY}px`;
}

function open(part, x = -1) {
  clearTimeout(timer);
  if (shown === part) return;
  close();
  card.replaceChildren(...document.querySelector(part.hash).cloneNode(true).childNodes);
  part.after(card); // so that the Tab key goes from the part into the card
  card.showPopover();
  place(part, x);
  part.setAttribute("aria-expanded", "true");
  shown = part;
}

function close() {
  clearTimeout(timer);
  if (!shown) return;
  if (card.contains(document.activeElement)) shown.focus();
  shown.setAttribute("aria-expanded", "false");
  card.hidePopover();
  card.remove();
  shown = null;
  kept = false;
}

function press(event) {
  event.preventDefault();
  const part = event.currentTarget;
  if (shown === part && kept) {
    close();
  } else {
    open(part, event.clientX);
    kept = true;
  }
}

function wait(action, milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(action, milliseconds);
}

function leave(event) {
  if (event.pointerType !== "mouse" || kept) return;
  // WCAG 2.2, 1.4.13: a part that has the focus keeps its card, wherever the pointer is.
  if (within(document.activeElement)) clearTimeout(timer);
  else wait(close, CLOSE_AFTER);
}

function within(node) {
  return node instanceof Node && Boolean(shown?.contains(node) || card.contains(node));
}

if ("popover" in HTMLElement.prototype) {
  for (const part of drawn.querySelectorAll(".part")) {
    part.setAttribute("role", "button");
    part.setAttribute("aria-expanded", "false");
    part.setAttribute("aria-describedby", part.hash.slice(1)); // the same words in the list
    part.addEventListener("pointerenter", (event) => {
      if (event.pointerType === "mouse" && !kept) wait(() => open(part, event.clientX), OPEN_AFTER);
    });
    part.addEventListener("pointerleave", leave);
    part.addEventListener("click", press);
    part.addEventListener("keydown", (event) => {
      if (event.key === " ") press(event);
    });
    part.addEventListener("focus", () => {
      if (!part.matches(":focus-visible")) return;
      open(part);
      kept = true;
    });
  }
  card.addEventListener("pointerenter", () => clearTimeout(timer));
  card.addEventListener("pointerleave", leave);
  card.addEventListener("click", (event) => {
    if (event.target.closest("a")) setTimeout(close); // once the link has been followed
  });
  drawn.addEventListener("focusout", (event) => {
    if (shown && event.relatedTarget && !within(event.relatedTarget)) close();
  });
  document.addEventListener("pointerdown", (event) => {
    if (shown && !within(event.target)) close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
  window.addEventListener("resize", () => {
    if (shown) place(shown, -1);
  });
}
