// What a picture must not show. It is hidden itself, by a style of its own that holds in every layer, frame and transform,
// and covered with a plain colour where it stands, above whatever else the page shows.

// By element, how it was: {before: [[property, value, priority]], styled}.
const hidden = new Map();
let layer = null;

const styleGetter = Object.getOwnPropertyDescriptor(HTMLElement.prototype, 'style').get;
const styleOf = element => (element instanceof HTMLElement ? styleGetter.call(element) : element.style) || null;

// Properties of its own with `!important` win over the page's sheets and animations; a transition would win over them.
const hide = element => {
  const style = styleOf(element);
  if (!style || hidden.has(element)) return;
  const computed = getComputedStyle(element);
  if (computed.display === 'contents') {
    for (const child of childrenOf(element)) if (child.nodeType === Node.ELEMENT_NODE) hide(child);
    return;
  }
  const properties = /\b(all|opacity)\b/.test(computed.transitionProperty) ? ['opacity', 'transition-property'] : ['opacity'];
  const styled = element.hasAttribute('style');
  const before = properties.map(name => [name, style.getPropertyValue(name), style.getPropertyPriority(name)]);
  if (properties.length > 1) style.setProperty('transition-property', 'none', 'important');
  style.setProperty('opacity', '0', 'important');
  hidden.set(element, { before, styled });
};

const isHidden = element => getComputedStyle(element).display === 'contents'
  || (getComputedStyle(element).opacity === '0' && hidden.has(element));

const show = (element, { before, styled }) => {
  const style = styleOf(element);
  for (const [name, value, priority] of before) {
    if (value) style.setProperty(name, value, priority);
    else style.removeProperty(name);
    // Its old look is there again before it may change in a transition.
    void getComputedStyle(element).opacity;
  }
  if (!styled && element.getAttribute('style') === '') element.removeAttribute('style');
};

// All covers are in one layer, which lies above dialogs and popovers, and goes with the document as it scrolls.
const coverLayer = () => {
  if (layer && layer.isConnected) return layer;
  layer = document.createElementNS('http://www.w3.org/1999/xhtml', 'div');
  layer.setAttribute('popover', 'manual');
  layer.style.cssText = 'all:initial!important;position:absolute!important;left:0!important;top:0!important;width:0!important;'
    + 'height:0!important;pointer-events:none!important;z-index:2147483647!important';
  document.documentElement.append(layer);
  // A document that is no HTML may have no such layer.
  try { layer.showPopover(); } catch { /* it lies where it was put */ }
  return layer;
};

const cover = (boxes, color) => {
  if (!boxes.length || !document.documentElement) return;
  const around = coverLayer();
  const put = ({ x, y, width, height }, shown) => {
    const piece = document.createElementNS('http://www.w3.org/1999/xhtml', 'div');
    piece.style.cssText = `all:initial!important;position:absolute!important;left:${x}px!important;top:${y}px!important;`
      + `width:${width}px!important;height:${height}px!important;background:${shown ? color : 'none'}!important`;
    around.append(piece);
    return piece;
  };
  // Where the layer really is, and how long a pixel is in it: the page may be zoomed.
  const probe = put({ x: 0, y: 0, width: 1000, height: 1000 }, false);
  const { left, top, width } = probe.getBoundingClientRect();
  probe.remove();
  const long = width / 1000 || 1;
  for (const box of boxes) {
    put({ x: (box.left - left) / long, y: (box.top - top) / long, width: box.width / long, height: box.height / long }, true);
  }
};

const boxOf = element => {
  if (getComputedStyle(element).display !== 'contents') return [element.getBoundingClientRect()];
  return boxesOf(element);
};

const coverAll = (elements, color) => {
  const boxes = elements.filter(isRendered).flatMap(boxOf).filter(box => box.width > 0 && box.height > 0);
  for (const element of elements) hide(element);
  cover(boxes, color);
};

const uncoverAll = () => {
  for (const [element, how] of hidden) show(element, how);
  hidden.clear();
  if (layer) layer.remove();
  layer = null;
};
