// The verbs, a line each: the arguments that `values.js` checks, and how the contract's function answers.

const parsed = (json) => (json == null ? null : JSON.parse(json));
export const message = (given) => given && { id: Number(given.id), text: given.text, sender: given.sender, sentAt: Number(given.sentAt) };
export const stored = ({ id, name, mimeType, size, sha256 }) => ({ id, name, mimeType, size: Number(size), sha256 });
const arrived = ({ url, status }) => ({ url, status });

/** Of the turn: its task and its state. */
export const ofTurn = ({ task, state }) => ({
    'task.status': ['text:text', (text) => task.setStatusMessage(text)],
    'task.isCancelled': ['', () => task.isCancelled()],
    'task.messages': ['', () => task.takeMessages().map(message)],
    'task.sleep': ['time:whole', (time) => task.sleep(time)],
    'state.get': ['key:text', (key) => parsed(state.get(key))],
    'state.set': ['key:text value:json', (key, value) => state.set(key, value)],
    'state.delete': ['key:text', (key) => state.delete(key)],
    'state.keys': ['prefix:text', (prefix) => state.keys(prefix)],
});

/** Of the browser; `opened` gives a page its number. */
export const ofBrowser = (browser, opened) => ({
    'browser.open': ['settings', (settings) => opened(browser().open(settings))],
    'browser.pages': ['', () => parsed(browser().pages())],
    'browser.cookies': ['origin:text', (origin) => parsed(browser().cookies(origin))],
    'browser.setCookies': ['cookies:json', (cookies) => browser().setCookies(cookies)],
    'browser.clearCookies': ['origin:text', (origin) => browser().clearCookies(origin)],
    'browser.storageState': ['origins:texts', (origins) => parsed(browser().storageState(origins))],
    'browser.setStorageState': ['state:json', (state) => browser().setStorageState(state)],
});

const LOCATOR = 'locator:text settings';

/** Of a page. Most are functions of the contract under the same name, and answer what these answer. */
const SAME = {
    url: '',
    title: '',
    close: '',
    onDialog: 'kind:text action:text settings',
    setOffline: 'offline:flag',
    setViewport: 'width:side height:side settings',
    click: LOCATOR,
    dblclick: LOCATOR,
    tap: LOCATOR,
    hover: LOCATOR,
    focus: LOCATOR,
    scrollIntoView: LOCATOR,
    drag: 'locator:text target:text settings',
    scroll: 'right:pixels down:pixels settings',
    press: 'keys:text settings',
    fill: 'locator:text value:text settings',
    fillSecret: 'locator:text name:text settings',
    typeText: 'locator:text text:text settings',
    compose: 'locator:text text:text settings',
    check: LOCATOR,
    uncheck: LOCATOR,
    select: 'locator:text options:texts settings',
    upload: 'locator:text files:texts settings',
    text: LOCATOR,
    html: LOCATOR,
    value: LOCATOR,
    attribute: 'locator:text name:text settings',
    snapshot: 'settings',
    waitFor: 'locator:text state:text settings',
    waitForText: 'text:text settings',
    waitForUrl: 'url:text settings',
    waitForLoad: 'state:text settings',
};

/** The others: what the function answers is made something else. */
const MADE = {
    goto: ['url:text settings', arrived],
    back: ['settings', arrived],
    forward: ['settings', arrived],
    reload: ['settings', arrived],
    count: [LOCATOR, Number],
    boundingBox: [LOCATOR, (rect) => rect && { x: rect.x, y: rect.y, width: rect.width, height: rect.height }],
    evaluate: ['script:text argument:json settings', parsed],
    waitForFunction: ['script:text argument:json settings', parsed],
    console: ['', parsed],
    pageErrors: ['', parsed],
    requests: ['', parsed],
    screenshot: ['name:text settings', stored],
    pdf: ['name:text settings', stored],
    waitForDownload: ['settings', stored],
};

/** `[arguments, run(page, …)]` of each verb of a page. */
export function ofPage(opened) {
    const all = { ...MADE, waitForPopup: ['settings', opened] };
    for (const [name, wanted] of Object.entries(SAME)) all[name] = [wanted, (value) => value];
    return Object.fromEntries(Object.entries(all).map(([name, [wanted, made]]) => [name, [wanted, (page, ...values) => made(page[name](...values))]]));
}
