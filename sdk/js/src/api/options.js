// Which options each call has, and where among its arguments they stand. One that a call does not have is an error that names
// it and those there are: nothing is accepted and then left out.

import { Later } from './time.js';
import { only, optionsOf } from './values.js';

const { Object, Promise } = globalThis;

const WAIT = ['timeout'];
const CLICK = [...WAIT, 'button', 'modifiers', 'position'];
const TYPING = [...WAIT, 'delay'];
const STATE = [...WAIT, 'state'];
const ARRIVE = [...WAIT, 'waitUntil'];
const EVALUATE = [...WAIT, 'repeatable'];
const SHOT = [...WAIT, 'name', 'path', 'type', 'format', 'quality', 'mask'];
const SNAPSHOT = [...WAIT, 'depth', 'interactive', 'diff', 'limit'];
const TEXT = ['exact'];
const FILTERS = ['hasText', 'hasNotText', 'has', 'hasNot', 'visible'];
const STATES = ['checked', 'disabled', 'expanded', 'level', 'pressed', 'selected'];
const OPEN = [
    'viewport', 'deviceScaleFactor', 'scale', 'isMobile', 'mobile', 'hasTouch', 'touch', 'locale', 'timezoneId', 'timeZone', 'userAgent',
    'geolocation', 'colorScheme', 'offline', 'extraHTTPHeaders', 'headers', 'dialogs', 'httpCredentials',
];
const REQUEST = ['headers', 'timeout', 'redirects'];

/** The place of the options of each call, and their names; none where it has no options. */
export const FINDER = {
    locator: [1, FILTERS], frameLocator: [1], childFrame: [1], getByTestId: [1], getByRole: [1, ['name', ...TEXT, ...STATES]],
    getByText: [1, TEXT], getByLabel: [1, TEXT], getByPlaceholder: [1, TEXT], getByAltText: [1, TEXT], getByTitle: [1, TEXT],
    anyOf: undefined,
};
/** What is done with an element; of a page the same with the selector before the rest. */
export const ELEMENT = {
    click: [0, [...CLICK, 'clickCount']], dblclick: [0, CLICK], tap: [0, WAIT], hover: [0, WAIT], focus: [0, WAIT],
    fill: [1, WAIT], fillSecret: [1, WAIT], type: [1, TYPING], change: [1, WAIT],
    check: [0, WAIT], uncheck: [0, WAIT], setChecked: [1, WAIT], selectOption: [1, WAIT], setInputFiles: [1, WAIT],
    innerText: [0, WAIT], textContent: [0, WAIT], innerHTML: [0, WAIT], inputValue: [0, WAIT], getAttribute: [1, WAIT],
    boundingBox: [0, WAIT], isVisible: [0], isHidden: [0],
    isChecked: [0, WAIT], isDisabled: [0, WAIT], isEnabled: [0, WAIT], isEditable: [0, WAIT],
};
export const LOCATOR = {
    ...ELEMENT,
    clear: [0, WAIT], pressSequentially: [1, TYPING], compose: [1, WAIT], press: [1, WAIT], scrollIntoViewIfNeeded: [0, WAIT],
    dragTo: [1, WAIT], scroll: [2, WAIT], evaluate: [2, EVALUATE], count: [0], all: [0], allInnerTexts: [0], allTextContents: [0],
    snapshot: [0, SNAPSHOT], ariaSnapshot: [0, SNAPSHOT], screenshot: [0, SHOT],
    waitForElements: [0, [...WAIT, 'operator', 'count', 'visible', 'properties', 'attributes']],
};
export const LOCATOR_NOW = { filter: [0, FILTERS], first: [0], last: [0], nth: [1], contentFrame: [0], within: undefined, toString: undefined };
export const LOCATOR_LATER = { waitFor: [0, STATE], waitForFunction: [2, WAIT] };

/** `press(keys)` where the focus is, `press(selector, keys)` in an element. */
const afterKeys = (values) => (typeof values[1] === 'string' ? 2 : 1);
export const PAGE = {
    goto: [1, ARRIVE], reload: [0, ARRIVE], goBack: [0, ARRIVE], goForward: [0, ARRIVE], url: [0], title: [0], close: [0],
    setOffline: [1], onDialog: [1, [...WAIT, 'kind', 'text']], setViewportSize: [1, [...WAIT, 'deviceScaleFactor', 'isMobile']],
    press: [afterKeys, WAIT], dragAndDrop: [2, WAIT], evaluate: [2, EVALUATE], content: [0], setContent: [1, WAIT],
    snapshot: [0, [...SNAPSHOT, 'root']], ariaSnapshot: [0, [...SNAPSHOT, 'root']], consoleMessages: [0], pageErrors: [0], requests: [0],
    screenshot: [0, [...SHOT, 'fullPage']],
    pdf: [0, [
        ...WAIT, 'name', 'path', 'format', 'width', 'height', 'margin', 'landscape', 'printBackground', 'scale', 'pageRanges', 'preferCSSPageSize',
        'tagged',
    ]],
    waitForTimeout: [1], at: [2],
};
export const PAGE_NOW = {
    context: [0], setDefaultTimeout: [1], setDefaultNavigationTimeout: [1], isClosed: [0],
    within: undefined, verb: undefined, shot: undefined, release: undefined, on: undefined, uploads: undefined, defaultTimeout: undefined,
};
export const PAGE_LATER = {
    waitForSelector: [1, STATE], waitForText: [1, [...WAIT, 'gone']], waitForLoadState: [1, WAIT], waitForFunction: [2, WAIT],
    waitForURL: [1, ARRIVE], waitForNavigation: [0, [...ARRIVE, 'url']], waitForPopup: [0, WAIT],
    waitForDownload: [0, [...WAIT, 'name', 'path']], waitForEvent: undefined,
};
export const KEYBOARD = { press: [1, WAIT], down: [1, WAIT], up: [1, WAIT], type: [1, TYPING], insertText: [1] };
export const MOUSE = { wheel: [2] };
export const CONTEXT = { newPage: [0, OPEN], cookies: [1], addCookies: [1], clearCookies: [1], storageState: [0, ['origins']], setStorageState: [1] };
export const BROWSER = { open: [0, OPEN], newPage: [0, OPEN], withPage: [1, [...OPEN, 'repeatable']] };
export const HTTP = { request: [2, [...REQUEST, 'body']] };
for (const method of ['get', 'head', 'delete']) HTTP[method] = [1, REQUEST];
for (const method of ['post', 'put', 'patch']) HTTP[method] = [2, REQUEST];
export const ARTIFACTS = { save: [2, ['mimeType']], read: [1], readText: [1] };
export const CONFIRM = { confirm: [1, ['key', 'peopleOnly', 'timeout']] };
export const OUTCOME = { outcome: [1, ['text', 'content', 'question']] };
export const OUTPUT = { emit: [1, ['part', 'last', 'mimeType']] };

/** The options among the arguments of a call, all of them known. */
export function check(name, [place, known], values) {
    const given = values[typeof place === 'function' ? place(values) : place];
    if (known) only(name, known, optionsOf(given));
    // Whoever hands a call to `map` gives it a number there.
    else if (typeof given === 'object' && given !== null) only(name, [], given);
}

const AT_ONCE = (error) => { throw error; };
const REJECTED = (error) => Promise.reject(error);
const LATER = (error) => new Later(() => AT_ONCE(error));

function guarded(target, table, failed) {
    for (const [name, options] of Object.entries(table)) {
        if (options === undefined) continue;
        const run = target[name];
        const value = function (...values) {
            try {
                check(name, options, values);
            } catch (error) {
                return failed(error);
            }
            return run.apply(this, values);
        };
        Object.defineProperty(target, name, { ...Object.getOwnPropertyDescriptor(target, name), value });
    }
    return target;
}

/** Calls that answer promises, waits that begin later, and calls that answer at once: each fails as it does for other reasons. */
export const promising = (target, table) => guarded(target, table, REJECTED);
export const waiting = (target, table) => guarded(target, table, LATER);
export const answering = (target, table) => guarded(target, table, AT_ONCE);
