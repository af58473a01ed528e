// The page as an indented list of roles, names, states and refs: the form that tools for models share.

const ACTED_ON = new Set(('button link textbox searchbox checkbox radio combobox listbox slider spinbutton switch tab menuitem '
  + 'menuitemcheckbox menuitemradio treeitem iframe gridcell').split(' '));
const PLAIN_INPUT = /^(checkbox|radio|file|submit|button|reset|image|hidden|range|color)$/;
const DROPPED = new Set(['script', 'style', 'noscript', 'template', 'head']);
const NAME_LENGTH = 200;
const TEXT_LENGTH = 1000;
// Options listed of one list.
const OPTIONS = 30;
// What lies deeper is left out: the stack is not endless.
const DEPTH = 400;

const quote = text => JSON.stringify(text.toWellFormed());
const scalar = text => (/^[\p{L}\p{N}][^\n"'#:{}[\]\\]*$/u.test(text) ? text.toWellFormed() : quote(text));

const VALUED = new Set(['slider', 'progressbar', 'meter', 'spinbutton', 'scrollbar']);

const describedValue = (element, role) => {
  if (element.localName === 'textarea' || (element.localName === 'input' && !PLAIN_INPUT.test(element.type))) {
    return element.type === 'password' ? '•'.repeat(element.value.length) : element.value;
  }
  if (element.localName === 'input' && element.type === 'file') return [...element.files].map(file => file.name).join(', ');
  if (element.localName === 'input' && (element.type === 'range' || element.type === 'color')) return element.value;
  if (!VALUED.has(role)) return '';
  const now = element.getAttribute('aria-valuetext') || element.getAttribute('aria-valuenow');
  if (now) return now;
  if (element.localName === 'progress') return element.position < 0 ? '' : `${Math.round(element.position * 100)} %`;
  return element.localName === 'meter' ? String(element.value) : '';
};

// Where the viewport is, and the left end of what can be scrolled to.
const viewNow = () => {
  const view = { x: scrollX, y: scrollY, width: innerWidth, height: innerHeight, begin: 0 };
  const scroller = document.scrollingElement;
  // What is written from the right begins there, and goes on to the left of what a page begins with.
  const { direction, writingMode } = getComputedStyle(scroller || document.documentElement);
  if (scroller && (writingMode === 'horizontal-tb' ? direction === 'rtl' : /-rl$/.test(writingMode))) {
    view.begin = scroller.clientWidth - scroller.scrollWidth;
  }
  return view;
};

// Fixed outside the viewport, or before the beginning of the page: no scrolling gets there.
const isOutOfReach = (element, fixed, view) => {
  const box = element.getBoundingClientRect();
  if (box.right + view.x <= view.begin || box.bottom + view.y <= 0) return box.width > 0;
  return fixed && (box.left >= view.width || box.top >= view.height || box.right <= 0 || box.bottom <= 0);
};

// The hidden check box, radio button or file input that a label stands for.
const hiddenField = label => {
  const field = label.control;
  return field && field.localName === 'input' && /^(checkbox|radio|file)$/.test(field.type) && !isRendered(field) ? field : null;
};

// Names that are as long as this are made of what the element holds; what is cut off them has to be shown there.
const HOLDERS = new Set(['row', 'cell', 'gridcell', 'columnheader', 'rowheader', 'treeitem']);

// What has the focus, however deep in shadow roots.
const activeElement = () => {
  let active = document.activeElement;
  while (active && rootOf(active) && rootOf(active).activeElement) active = rootOf(active).activeElement;
  return active === document.body ? null : active;
};

// As an array, which is walked much faster than a list of the document's.
const listed = node => {
  const children = childrenOf(node);
  if (children !== node.childNodes) return children;
  const all = [];
  for (let child = node.firstChild; child; child = child.nextSibling) all.push(child);
  return all;
};

// The dialog on top of all others. It alone, and what is drawn behind it, gets the mouse, wherever it is opened from.
const topModal = () => {
  const modalAt = (x, y) => {
    const hit = elementAt(x, y);
    return hit && closestInTree(hit, 'dialog:modal');
  };
  const over = modalAt(innerWidth / 2, innerHeight / 2);
  if (over) return over;
  const all = [...document.querySelectorAll('dialog:modal')];
  return all.find(dialog => boxesOf(dialog).some(box => modalAt((box.left + box.right) / 2, (box.top + box.bottom) / 2) === dialog))
    || all.pop() || null;
};

let nextRef = 0;

class Snapshot {
  constructor(request) {
    Object.assign(this, request);
    this.lines = [];
    this.size = 0;
    this.full = false;
    this.more = 0;
    // Numbers that were given and never told are not given again.
    this.last = Math.max(request.next, nextRef);
    this.shown = [];
    this.pending = '';
    this.level = 0;
    // Elements of `position: fixed` around the one that is visited.
    this.fixed = 0;
    // Elements of `aria-disabled` around it, and itself.
    this.disabled = 0;
    this.active = activeElement();
    // Read once: nothing moves while a snapshot is taken.
    this.view = viewNow();
    // Asked of all elements only where there is one, outside of shadow roots.
    this.unfound = !!document.querySelector('[hidden=until-found]');
    this.inert = !!document.querySelector('[inert]');
    // Nothing behind it can be acted on.
    this.modal = topModal();
    if (this.modal) this.disabled++;
  }

  push(line) {
    this.full ||= this.size + line.length + 1 > this.limit;
    if (this.full) {
      this.more++;
      return false;
    }
    this.size += line.length + 1;
    this.lines.push(line);
    return true;
  }

  refFor(element) {
    let ref = refOf.get(element);
    if (!ref) {
      ref = `e${this.last++}`;
      refOf.set(element, ref);
      refs.set(ref, new WeakRef(element));
    }
    return ref;
  }

  // Text between elements is one line.
  flush(indent) {
    const text = normalize(this.pending);
    this.pending = '';
    if (text && !this.interactive) this.push(`${indent}- text: ${scalar(cut(text, TEXT_LENGTH))}`);
  }

  // After the limit: only counts.
  count(element) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_ELEMENT);
    while (walker.nextNode()) if (roleOf(walker.currentNode)) this.more++;
  }

  // `silent`: its own text is not shown, as a name says it or nobody sees it.
  children(node, depth, inName, pointer, silent = inName) {
    let options = 0;
    // All but its head is hidden.
    const closed = node.localName === 'details' && !node.open;
    const only = onlyText(node);
    if (only) {
      if (!silent && !closed) this.pending += only.data;
      return;
    }
    for (const child of listed(node)) {
      if (closed && child.localName !== 'summary') continue;
      if (child.nodeType === Node.TEXT_NODE) {
        if (!silent) this.pending += child.data;
      } else if (child.nodeType === Node.ELEMENT_NODE && !DROPPED.has(child.localName)) {
        if (child.localName === 'option' && ++options > OPTIONS && !child.selected) continue;
        this.element(child, depth, inName, pointer);
      }
    }
    if (options > OPTIONS) this.push(`${'  '.repeat(depth)}- … ${options - OPTIONS} more options`);
  }

  element(element, depth, inName, pointer) {
    // Most elements of a long list have no attributes: those are not asked for any.
    const bare = !element.hasAttributes();
    if (!bare && element.getAttribute('aria-hidden') === 'true') return;
    const style = getComputedStyle(element);
    const display = style.display;
    if (display === 'none' || (!bare && this.unfound && element.getAttribute('hidden') === 'until-found')) return;
    if (this.level > DEPTH) {
      this.more++;
      return;
    }
    const block = !display.startsWith('inline') && display !== 'contents';
    // What is fixed is a block, whatever it was.
    const fixed = block && style.position === 'fixed' ? 1 : 0;
    let disabled = !bare && (element.getAttribute('aria-disabled') === 'true' || (this.inert && element.hasAttribute('inert'))) ? 1 : 0;
    if (element === this.modal) disabled -= this.disabled;
    this.level++;
    this.fixed += fixed;
    this.disabled += disabled;
    try {
      this.visit(element, bare, style, display, block, depth, inName, pointer);
    } finally {
      this.level--;
      this.fixed -= fixed;
      this.disabled -= disabled;
    }
  }

  visit(element, bare, style, display, block, depth, inName, pointer) {
    const visible = style.visibility === 'visible';
    const field = visible && element.localName === 'label' && hiddenField(element) || element;
    const role = visible ? roleOf(field) : '';
    const acting = ACTED_ON.has(role);
    // Asked for where it says something: styles are what takes the longest.
    const pointed = !pointer && (!acting || !!element.firstElementChild || !!rootOf(element)) && style.cursor === 'pointer';
    const acted = visible && (acting || pointed || (!bare && (element.hasAttribute('onclick')
      || (element.hasAttribute('tabindex') && element.tabIndex >= 0))) || element.localName === 'canvas');
    const indent = '  '.repeat(depth);
    const listed = acted || (role && !this.interactive && !(inName && role !== 'img'));
    if (!listed || (this.depth != null && depth >= this.depth)) {
      if (listed) {
        this.more++;
        return;
      }
      if (block && !role && style.contentVisibility === 'hidden') return;
      const apart = !block && (display === 'inline' ? element.localName === 'br' : display !== 'contents');
      if (block) this.flush(indent);
      else if (apart) this.pending += ' ';
      this.children(element, depth, inName, pointer || pointed, inName || !visible);
      if (block) this.flush(indent);
      else if (apart) this.pending += ' ';
      return;
    }
    this.flush(indent);
    if (this.full) {
      this.more++;
      this.count(element);
      return;
    }
    let name = nameOf(field, role);
    const long = name.length > NAME_LENGTH && !!element.firstElementChild;
    if (long && HOLDERS.has(role)) name = '';
    const at = this.lines.length;
    if (!this.push(this.line(element, bare, field, role, name, acted, indent))) {
      this.count(element);
      return;
    }
    if (role === 'link') this.push(`${indent}  - /url: ${scalar(cut(element.getAttribute('href') || '', NAME_LENGTH))}`);
    const placeholder = !bare && element.getAttribute('placeholder');
    if (placeholder && placeholder !== name && !this.interactive) this.push(`${indent}  - /placeholder: ${scalar(cut(placeholder, NAME_LENGTH))}`);
    if (role === 'iframe') {
      for (const [frame, shown] of frameElements) if (shown.deref() === element) this.shown.push({ frame, line: this.lines.length, indent: depth + 1 });
      return;
    }
    const value = describedValue(field, role);
    if (value) this.push(`${indent}  - text: ${quote(cut(value, NAME_LENGTH))}`);
    const named = !!name && !long && NAMED_BY_CONTENT.has(role);
    const skipped = element.localName === 'textarea' || (!bare && block && style.contentVisibility === 'hidden');
    if (!skipped) this.children(element, depth + 1, named || inName, pointer || pointed);
    if (named) this.pending = '';
    else this.flush(`${indent}  `);
    // A single text goes behind its element.
    const text = `${indent}  - text: `;
    if (this.lines.length === at + 2 && this.lines[at + 1].startsWith(text)) this.lines[at] += `: ${this.lines.pop().slice(text.length)}`;
    else if (this.lines.length > at + 1) {
      this.lines[at] += ':';
      this.size++;
    }
  }

  // `field` has the states: the element itself, or what it stands for.
  line(element, bare, field, role, name, acted, indent) {
    let line = `${indent}- ${role || 'generic'}`;
    if (name) line += ` ${quote(cut(name, NAME_LENGTH))}`;
    if (role === 'heading') line += ` [level=${stateOf(element, 'level') || 2}]`;
    const checked = CHECKABLE.has(role) && role !== 'option' ? stateOf(field, 'checked') : false;
    if (checked) line += checked === 'mixed' ? ' [checked=mixed]' : ' [checked]';
    if (role === 'option' || role === 'tab' || (!bare && element.hasAttribute('aria-selected'))) if (stateOf(element, 'selected')) line += ' [selected]';
    if ((acted || role === 'option') && (this.disabled || isMatch(field, ':disabled'))) line += ' [disabled]';
    if (((!bare && element.hasAttribute('aria-expanded')) || element.localName === 'summary' || element.localName === 'details') && stateOf(element, 'expanded')) line += ' [expanded]';
    if (!bare && element.hasAttribute('aria-pressed') && stateOf(element, 'pressed')) line += ' [pressed]';
    if (acted && !bare && !/^(false)?$/.test(element.getAttribute('aria-invalid') || '')) line += ' [invalid]';
    if (element === this.active) line += ' [active]';
    if (acted && isOutOfReach(element, this.fixed > 0, this.view)) line += ' [off-screen]';
    if (acted && role !== 'option') line += ` [ref=${this.refFor(element)}]`;
    return line;
  }
}

// `root`: null for the whole document.
const snapshot = (request, root) => {
  const made = new Snapshot(request);
  const above = root && parentOf(root);
  if (above && closestInTree(above, '[aria-disabled="true"], [inert]')) made.disabled++;
  if (above && made.modal && isWithin(above, made.modal)) made.disabled--;
  if (root) made.element(root, 0, false, false);
  else if (document.body) {
    const { display, visibility } = getComputedStyle(document.body);
    if (display === 'contents' || document.body.checkVisibility()) made.children(document.body, 0, false, false, visibility !== 'visible');
  }
  else if (document.documentElement) made.children(document.documentElement, 0, false, false);
  made.flush('');
  nextRef = made.last;
  return { text: made.lines.join('\n'), more: made.more, next: made.last, frames: made.shown };
};

// Elements that may have a closed shadow root: they are shown, and what they show is not their own. A plain element
// with a closed root and children of its own is missed.
const HOSTS = new Set('article aside blockquote div footer header main nav p section span'.split(' '));
const seenHosts = new WeakSet();
const SUSPECTS = 200;

const isSuspect = element => {
  const name = element.localName;
  const custom = name.includes('-');
  // The commonest reasons first: a page has many elements.
  if (!custom && !HOSTS.has(name)) return false;
  if (!custom && (element.firstElementChild || (element.firstChild && element.textContent.trim()))) return false;
  return !seenHosts.has(element) && (custom || element.getClientRects().length > 0);
};

const suspects = () => {
  const found = [];
  const scopes = [document];
  for (const scope of scopes) {
    for (const element of scope.querySelectorAll('*')) {
      const root = rootOf(element);
      if (root) scopes.push(root);
      else if (isSuspect(element)) {
        seenHosts.add(element);
        found.push(element);
        if (found.length >= SUSPECTS) return found;
      }
    }
  }
  return found;
};
