// Opens the document that a link points into; not all browsers do this themselves.
function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (!target) return;
  let closed = target.closest("details:not([open])");
  while (closed) {
    closed.open = true;
    closed = closed.parentElement.closest("details:not([open])");
  }
  target.scrollIntoView();
}

window.addEventListener("hashchange", openTarget);
openTarget();
