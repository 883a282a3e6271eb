// What tests ask a page; each function is called with the arguments of the test.

// The number of words that are seen without scrolling: what is folded or below does not count.
function words(width, height) {
  let number = 0;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { textContent, parentElement } = texts.currentNode;
    if (parentElement.closest('.hidden, .skip, script, noscript, textarea')) continue;
    if (!parentElement.checkVisibility({ visibilityProperty: true })) continue;
    for (const word of textContent.matchAll(/[\p{L}\p{N}][\p{L}\p{N}.,'%-]*/gu)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, word.index);
      range.setEnd(texts.currentNode, word.index + word[0].length);
      const box = range.getBoundingClientRect();
      if (box.width && box.bottom <= height && box.left < width) number += 1;
    }
  }
  return number;
}

// What can be pressed and is smaller than 24 by 24 CSS pixels (WCAG 2.2, 2.5.8), but for links
// within a sentence.
function small() {
  return [...document.querySelectorAll('a, button, summary, input, textarea')]
    .filter(element => element.offsetParent && !element.closest('.skip'))
    .filter(element => {
      const box = element.getBoundingClientRect();
      const sentence = getComputedStyle(element).display === 'inline'
        && element.parentElement.textContent.trim() !== element.textContent.trim();
      const alone = !sentence || element.matches('.part');
      return alone && (box.width < 24 || box.height < 24);
    })
    .map(element => element.outerHTML);
}

// Whether an element of more lines begins beside the words before it.
function flows(selector) {
  const element = document.querySelector(selector);
  const [first, ...more] = element.getClientRects();
  const before = document.createRange();
  before.selectNodeContents(element.parentElement);
  return more.length > 0 && first.left > before.getBoundingClientRect().left;
}

function levels() {
  return [...document.querySelectorAll("h1, h2, h3, h4")].map((h) => Number(h.tagName[1]));
}

function ids() {
  return [...document.querySelectorAll("[id]")].map((element) => element.id);
}

function nameless() {
  return [...document.querySelectorAll("a, button")]
    .filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label"))).length;
}

// The looks of the lines below these parts of a proof, and their signs.
function lines(...numbers) {
  return numbers.map((n) => {
    return getComputedStyle(document.querySelector(`.part[href='#part-${n}']`)).borderBottomStyle;
  });
}

function signs(...numbers) {
  return numbers.map((n) => document.querySelector(`.part[href='#part-${n}'] .icon`).innerHTML);
}
