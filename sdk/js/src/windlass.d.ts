// What a script of Windlass can use. A script is the body of an async function: `await` and `return` stand at its top.
// docs/scripts.md tells it with examples.

/** The input of the call. */
declare const input: any;
/** A page that is opened when it is first used. */
declare const page: Page;

/** Milliseconds. */
type Millis = number;
type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** An error of the host has a `code`, such as `timeout`, `denied`, `not-found`, `page-lost` or `interrupted`. */
interface HostError extends Error {
    code: string;
    details?: any;
}
/** Ends the script as failed with a code of your own, unless it is caught. */
declare class Failure extends Error {
    constructor(code: string, message: string, details?: Json);
    code: string;
    details?: any;
}
/** Throws a `Failure`. */
declare function fail(code: string, message: string, details?: Json): never;
/** A returned value with text, files or a question: a question leaves the task open for a follow-up. */
declare function outcome(value?: any, options?: { text?: string; content?: (string | Artifact | Json)[]; question?: string }): any;

declare const log: Record<'trace' | 'debug' | 'info' | 'warn' | 'error', (message: any, fields?: Record<string, any>) => void>;
/** Goes to the log: `log` and `info` as info, the others as their names say. */
declare const console: Record<'log' | 'info' | 'debug' | 'trace' | 'warn' | 'error', (...values: any[]) => void> & {
    assert(holds: any, ...values: any[]): void;
};
/** A piece of output while the script runs; pieces of one part are one text. */
declare function emit(piece: string | Artifact | Json, options?: { part?: string; last?: boolean; mimeType?: string }): void;
declare function progress(done: number, total?: number, message?: string): void;
/** One line that says what is going on. */
declare function status(text: string): void;

/** Waits, also over restarts of the host. */
declare function sleep(time: Millis): Promise<void>;
declare function setTimeout(run: (...values: any[]) => void, time?: Millis, ...values: any[]): number;
declare function setInterval(run: (...values: any[]) => void, time?: Millis, ...values: any[]): number;
declare function clearTimeout(id: number | undefined): void;
declare function clearInterval(id: number | undefined): void;

interface Question {
    message: string;
    /** JSON Schema of a flat form; without it one text, `answer`, is asked for. */
    schema?: object;
    /** Unique in the turn; `q1`, `q2` … unless given. */
    key?: string;
    /** Never offered to a model. */
    peopleOnly?: boolean;
    timeout?: Millis;
}
interface Answer {
    accepted: boolean;
    action: 'accepted' | 'declined' | 'dismissed' | 'expired';
    /** The form, if it was accepted. */
    value?: any;
}
/** Asks the people who watch, and waits for as long as it takes. */
declare function ask(question: string | Question): Promise<Answer>;
declare function ask(questions: (string | Question)[]): Promise<Answer[]>;
/** True only for a yes. */
declare function confirm(message: string, options?: Omit<Question, 'message' | 'schema'>): Promise<boolean>;

/** Values that live across the turns of the task. */
declare const state: {
    get(key: string): Promise<any>;
    set(key: string, value: Json | undefined): Promise<void>;
    delete(key: string): Promise<void>;
    keys(prefix?: string): Promise<string[]>;
};

interface Artifact {
    id: string;
    name: string;
    mimeType: string;
    size: number;
    sha256: string;
}
/** Files that people can download. */
declare const artifacts: {
    save(name: string, data: string | Uint8Array | ArrayBuffer | Json, options?: { mimeType?: string }): Promise<Artifact>;
    read(file: Artifact | string): Promise<Uint8Array>;
    readText(file: Artifact | string): Promise<string>;
};

/** Stands for a secret in a header: the host sends it, the script never sees it. */
interface SecretName {
    secret: string;
    prefix: string;
}
declare function secret(name: string, prefix?: string): SecretName;
declare const secrets: {
    /** The secret itself; needs `reveal NAME`. */
    reveal(name: string): Promise<string>;
};
interface RequestOptions {
    headers?: Record<string, string | SecretName>;
    timeout?: Millis;
    /** How many are followed; 10 at most. */
    redirects?: number;
}
type Body = string | Uint8Array | Json;
interface HttpAnswer {
    status: number;
    /** Status 200 to 299. */
    ok: boolean;
    /** After redirects. */
    url: string;
    headers: Record<string, string>;
    text(): string;
    json(): any;
    bytes(): Uint8Array;
}
/** Needs `http ORIGIN`. An answer with an error status is an answer. */
declare const http: {
    request(method: string, url: string, options?: RequestOptions & { body?: Body }): Promise<HttpAnswer>;
    get(url: string, options?: RequestOptions): Promise<HttpAnswer>;
    head(url: string, options?: RequestOptions): Promise<HttpAnswer>;
    delete(url: string, options?: RequestOptions): Promise<HttpAnswer>;
    post(url: string, body?: Body, options?: RequestOptions): Promise<HttpAnswer>;
    put(url: string, body?: Body, options?: RequestOptions): Promise<HttpAnswer>;
    patch(url: string, body?: Body, options?: RequestOptions): Promise<HttpAnswer>;
};

interface Message {
    id: number;
    text: string;
    sender: string;
    /** Milliseconds since 1970, UTC. */
    sentAt: number;
}
declare const task: {
    readonly id: string;
    /** 1 for the call, more for each follow-up. */
    readonly turn: number;
    readonly tool: string;
    /** The follow-up that opened this turn. */
    readonly message?: Message;
    isCancelled(): boolean;
    /** Follow-ups not yet taken. */
    messages(): Message[];
};

interface OpenOptions {
    /** 1280 x 720 unless given. */
    viewport?: { width: number; height: number } | string;
    /** Device pixels a CSS pixel, 0.5 to 4; also `scale`. */
    deviceScaleFactor?: number;
    /** As a telephone lays pages out; also `mobile`. */
    isMobile?: boolean;
    /** There is a touch screen, for `tap`; also `touch`. */
    hasTouch?: boolean;
    scale?: number;
    mobile?: boolean;
    touch?: boolean;
    /** `en-US` unless given. */
    locale?: string;
    /** `UTC` unless given; also `timeZone`. */
    timezoneId?: string;
    timeZone?: string;
    userAgent?: string;
    geolocation?: { latitude: number; longitude: number } | string;
    colorScheme?: 'light' | 'dark';
    offline?: boolean;
    /** Sent with every request; also `headers`. */
    extraHTTPHeaders?: Record<string, string>;
    headers?: Record<string, string>;
    /** How dialogs are answered; see `Page.onDialog`. */
    dialogs?: 'accept' | 'dismiss';
    /** The password is named, not seen; `origin` alone gets it. */
    httpCredentials?: { username: string; password: SecretName; origin: string };
}
declare const browser: {
    open(options?: OpenOptions): Promise<Page>;
    /** The same as `open`. */
    newPage(options?: OpenOptions): Promise<Page>;
    contexts(): BrowserContext[];
    /** Opens a page, runs `work` with it, lets go of it. If the page is lost, again with another; `repeatable`: also if an action was interrupted. */
    withPage<T>(work: (page: Page) => Promise<T> | T, options?: OpenOptions & { repeatable?: boolean }): Promise<T>;
};

interface Cookie {
    name: string;
    value: string;
    domain: string;
    path: string;
    /** Seconds since 1970; -1: until the browser ends. */
    expires: number;
    httpOnly: boolean;
    secure: boolean;
    sameSite: string;
}
interface StorageState {
    cookies: Cookie[];
    origins: { origin: string; localStorage: { name: string; value: string }[] }[];
}
/** All pages of a task are in one context. What sites have stored needs `browser-state ORIGIN`. */
interface BrowserContext {
    /** Those that this turn has opened and not closed. */
    pages(): Page[];
    newPage(options?: OpenOptions): Promise<Page>;
    /** The cookies that an origin gets. */
    cookies(origin: string): Promise<Cookie[]>;
    addCookies(cookies: Partial<Cookie>[]): Promise<void>;
    clearCookies(origin: string): Promise<void>;
    storageState(options: { origins: string | string[] }): Promise<StorageState>;
    setStorageState(state: StorageState): Promise<void>;
}
declare const context: BrowserContext;

interface Wait {
    /** How long it waits, 30 seconds unless given. */
    timeout?: Millis;
}
type LoadState = 'load' | 'domcontentloaded' | 'networkidle' | 'commit';
interface Arrive extends Wait {
    /** How far the document is loaded then; `load` unless given, `commit`: it is there. */
    waitUntil?: LoadState;
}
interface Navigation {
    url: string;
    /** 0 where there is no HTTP answer. */
    status: number;
}
interface Click extends Wait {
    button?: 'left' | 'middle' | 'right' | 'back' | 'forward';
    modifiers?: ('Alt' | 'Control' | 'ControlOrMeta' | 'Meta' | 'Shift')[] | string;
    /** From the upper left corner of the element. */
    position?: { x: number; y: number };
}
interface Typing extends Wait {
    /** Between two keys. */
    delay?: Millis;
}
interface Shot extends Wait {
    /** Name of the file; also `path`. */
    name?: string;
    path?: string;
    /** Also `format`. */
    type?: 'png' | 'jpeg' | 'webp';
    format?: 'png' | 'jpeg' | 'webp';
    /** 0 to 100, for jpeg and webp. */
    quality?: number;
    /** Elements that are covered. */
    mask?: Locator[];
}
interface Print extends Wait {
    /** Name of the file; also `path`. */
    name?: string;
    path?: string;
    format?: 'A3' | 'A4' | 'A5' | 'Letter' | 'Legal' | 'Tabloid';
    /** With a unit, `10cm`, or in CSS pixels; both together, instead of `format`. */
    width?: string | number;
    height?: string | number;
    /** On all sides: in inches, 0.4 unless given, or each side with its unit. */
    margin?: number | { top: string | number; right: string | number; bottom: string | number; left: string | number };
    landscape?: boolean;
    printBackground?: boolean;
    scale?: number;
    /** `1-5, 8`. */
    pageRanges?: string;
    preferCSSPageSize?: boolean;
    /** With the structure of the page. */
    tagged?: boolean;
}
interface Download extends Wait {
    /** Another name than the site's. */
    name?: string;
    /** Where it also goes: a path under `/workdir/`. */
    path?: string;
}
interface SnapshotOptions extends Wait {
    depth?: number;
    /** Only what can be acted on. */
    interactive?: boolean;
    /** What has changed since the last one of the same options. */
    diff?: boolean;
    /** Characters, 40000 unless given. */
    limit?: number;
}
interface ConsoleMessage {
    level: string;
    text: string;
    url: string | null;
    line: number | null;
}
interface PageError {
    message: string;
    url: string | null;
    line: number | null;
}
interface PageRequest {
    method: string;
    url: string;
    kind: string;
    status: number | null;
    failed: string | null;
    mimeType: string | null;
}
/** A file to upload: one of the task, its id, or bytes. */
type Upload = string | Artifact | { name: string; mimeType?: string; buffer: string | Uint8Array | ArrayBuffer | Json };
/** A text is a value or a label; an index counts from 0. */
type Choice = string | { value: string } | { label: string } | { index: number };
/**
 * A function that runs in the page, or its text. What it takes and answers travels as JSON: a date as its text, a map as an
 * object, a set as a list; `NaN`, `Infinity` and `1n` are errors. `undefined` arrives as null.
 */
type PageFunction = string | ((...values: any[]) => any);
interface Evaluate extends Wait {
    /** It changes nothing, and may run again after a crash. */
    repeatable?: boolean;
}
interface TextOptions {
    /** The whole text, letter by letter; else it may stand within another, whatever the case. */
    exact?: boolean;
}
interface RoleOptions extends TextOptions {
    name?: string | RegExp;
    checked?: boolean;
    disabled?: boolean;
    expanded?: boolean;
    level?: number;
    pressed?: boolean;
    selected?: boolean;
}
interface Filters {
    hasText?: string | RegExp;
    hasNotText?: string | RegExp;
    has?: Locator;
    hasNot?: Locator;
    visible?: boolean;
}

interface Finder {
    /** CSS, or any locator of the host; looks into frames and open shadow roots. */
    locator(selector: string | Locator, filters?: Filters): Locator;
    /** The same as `locator`. */
    frameLocator(selector: string): Locator;
    /** The nth frame, from 0. */
    childFrame(at: number): Locator;
    /** An element by several locators: the first that can be seen is taken. */
    anyOf(...selectors: (string | Locator)[]): AnyOf;
    getByRole(role: string, options?: RoleOptions): Locator;
    getByText(text: string | RegExp, options?: TextOptions): Locator;
    getByLabel(text: string | RegExp, options?: TextOptions): Locator;
    getByPlaceholder(text: string | RegExp, options?: TextOptions): Locator;
    getByAltText(text: string | RegExp, options?: TextOptions): Locator;
    getByTitle(text: string | RegExp, options?: TextOptions): Locator;
    getByTestId(id: string | RegExp): Locator;
}

type State = 'visible' | 'hidden' | 'attached' | 'detached';
/** What can be done with an element. An action waits until exactly one matches and can be acted on. */
interface ElementVerbs {
    /** `clickCount` 2 is a double click. */
    click(options?: Click & { clickCount?: 1 | 2 }): Promise<void>;
    dblclick(options?: Click): Promise<void>;
    /** With a finger; the page is opened with `hasTouch`. */
    tap(options?: Wait): Promise<void>;
    hover(options?: Wait): Promise<void>;
    focus(options?: Wait): Promise<void>;
    /** Replaces the value of a field. */
    fill(value: string | number, options?: Wait): Promise<void>;
    /** Fills in a secret by its name; needs `secret NAME`, and a page of an origin that it is bound to. */
    fillSecret(name: string, options?: Wait): Promise<void>;
    /** Key by key, behind what is there. */
    type(text: string, options?: Typing): Promise<void>;
    /** Sets a field whatever it is, as Chrome's Recorder means it: any text but the empty one checks a box. */
    change(value: string, options?: Wait): Promise<void>;
    check(options?: Wait): Promise<void>;
    uncheck(options?: Wait): Promise<void>;
    setChecked(checked: boolean, options?: Wait): Promise<void>;
    /** By values, labels or indices; answers the values. */
    selectOption(wanted: Choice | Choice[], options?: Wait): Promise<string[]>;
    /** None: takes away those that are there. */
    setInputFiles(files: Upload | Upload[], options?: Wait): Promise<void>;
    /** The rendered text. */
    innerText(options?: Wait): Promise<string>;
    textContent(options?: Wait): Promise<string>;
    innerHTML(options?: Wait): Promise<string>;
    /** Of a field. */
    inputValue(options?: Wait): Promise<string>;
    getAttribute(name: string, options?: Wait): Promise<string | null>;
    /** In CSS pixels, as the page is scrolled now; null where it is not shown. */
    boundingBox(options?: Wait): Promise<{ x: number; y: number; width: number; height: number } | null>;
    /** Now, without waiting. */
    isVisible(): Promise<boolean>;
    isHidden(): Promise<boolean>;
    isChecked(options?: Wait): Promise<boolean>;
    isDisabled(options?: Wait): Promise<boolean>;
    isEnabled(options?: Wait): Promise<boolean>;
    isEditable(options?: Wait): Promise<boolean>;
}
/** The same with the selector before the rest: `page.click('#buy')`. */
type BySelector<Verbs> = {
    [Name in keyof Verbs]: Verbs[Name] extends (...values: infer Values) => infer Answer ? (selector: string | Locator, ...values: Values) => Answer : never;
};

interface Locator extends Finder, ElementVerbs {
    first(): Locator;
    last(): Locator;
    nth(at: number): Locator;
    filter(filters: Filters): Locator;
    contentFrame(): Locator;
    clear(options?: Wait): Promise<void>;
    /** Key by key, behind what is there. */
    pressSequentially(text: string, options?: Typing): Promise<void>;
    /** As an input method does: the text at once. */
    compose(text: string, options?: Wait): Promise<void>;
    /** Gives it the focus, then presses `Enter`, `Control+A`. */
    press(keys: string, options?: Wait): Promise<void>;
    scrollIntoViewIfNeeded(options?: Wait): Promise<void>;
    /** Until the function, called with this element, answers what counts as true; it changes nothing. Within a frame: `childFrame(0).locator('html').waitForFunction(…)`. */
    waitForFunction(script: PageFunction, argument?: Json, options?: Wait): Promise<any>;
    /** Until so many are there and all have these properties and attributes; with `visible: false`, until that is not so. */
    waitForElements(options?: Wait & { operator?: '>=' | '==' | '<='; count?: number; visible?: boolean; properties?: Record<string, Json>; attributes?: Record<string, string> }): Promise<void>;
    dragTo(target: string | Locator, options?: Wait): Promise<void>;
    /** The mouse wheel above it, in CSS pixels. */
    scroll(right: number, down: number, options?: Wait): Promise<void>;
    /** The element comes before the argument. */
    evaluate(script: PageFunction, argument?: Json, options?: Evaluate): Promise<any>;
    /** How many match now. */
    count(): Promise<number>;
    all(): Promise<Locator[]>;
    allInnerTexts(): Promise<string[]>;
    allTextContents(): Promise<string[]>;
    snapshot(options?: SnapshotOptions): Promise<string>;
    ariaSnapshot(options?: SnapshotOptions): Promise<string>;
    waitFor(options?: Wait & { state?: State }): Promise<void>;
    screenshot(options?: Shot): Promise<Artifact>;
}

interface Page extends Finder, BySelector<ElementVerbs> {
    /** Keys go to where the focus is. */
    readonly keyboard: {
        press(keys: string, options?: Wait): Promise<void>;
        /** Stays down; a modifier counts for all that is done on the page until it goes up. */
        down(key: string, options?: Wait): Promise<void>;
        up(key: string, options?: Wait): Promise<void>;
        type(text: string, options?: Typing): Promise<void>;
        insertText(text: string): Promise<void>;
    };
    readonly mouse: { wheel(right: number, down: number): Promise<void> };
    context(): BrowserContext;
    setDefaultTimeout(time: Millis): void;
    setDefaultNavigationTimeout(time: Millis): void;

    goto(url: string, options?: Arrive): Promise<Navigation>;
    reload(options?: Arrive): Promise<Navigation>;
    /** `not-found` where there is nothing before. */
    goBack(options?: Arrive): Promise<Navigation>;
    goForward(options?: Arrive): Promise<Navigation>;
    url(): Promise<string>;
    title(): Promise<string>;
    close(): Promise<void>;
    isClosed(): boolean;
    setOffline(offline: boolean): Promise<void>;
    /** What is not given in the options stays as it is. */
    setViewportSize(size: { width: number; height: number }, options?: Wait & { deviceScaleFactor?: number; isMobile?: boolean }): Promise<void>;
    /** How dialogs are answered from now on; at first all are dismissed. `text`: what a prompt gets. */
    onDialog(action: 'accept' | 'dismiss', options?: Wait & { kind?: 'alert' | 'confirm' | 'prompt' | 'beforeunload' | 'all'; text?: string }): Promise<void>;

    /** `press(keys)` where the focus is, `press(selector, keys)` in an element: `Enter`, `Control+A`. */
    press(keys: string, options?: Wait): Promise<void>;
    press(selector: string | Locator, keys: string, options?: Wait): Promise<void>;
    dragAndDrop(source: string | Locator, target: string | Locator, options?: Wait): Promise<void>;

    /** In the page's own world. */
    evaluate(script: PageFunction, argument?: Json, options?: Evaluate): Promise<any>;
    /** The whole document as HTML. */
    content(): Promise<string>;
    /** Writes the document anew; waits for nothing that it asks for. */
    setContent(html: string, options?: Wait): Promise<void>;
    /** Roles, names, states, and refs to act by: `page.locator('ref=e12')`. */
    snapshot(options?: SnapshotOptions & { root?: string | Locator }): Promise<string>;
    ariaSnapshot(options?: SnapshotOptions & { root?: string | Locator }): Promise<string>;
    /** The newest thousand lines of its console. */
    consoleMessages(): Promise<ConsoleMessage[]>;
    /** Errors that no script of the page has caught. */
    pageErrors(): Promise<PageError[]>;
    requests(): Promise<PageRequest[]>;
    screenshot(options?: Shot & { fullPage?: boolean }): Promise<Artifact>;
    pdf(options?: Print): Promise<Artifact>;

    // A wait begins when it is awaited: it may be made before the click that it is about.
    waitForSelector(selector: string | Locator, options?: Wait & { state?: State }): Promise<void>;
    /** Anywhere on the page, whatever the case; `gone`: nowhere any more. */
    waitForText(text: string, options?: Wait & { gone?: boolean }): Promise<void>;
    /** `*` stands for anything. With `waitUntil` until the document there is loaded so far, too. */
    waitForURL(url: string | RegExp | ((url: string) => boolean), options?: Arrive): Promise<void>;
    waitForLoadState(state?: LoadState, options?: Wait): Promise<void>;
    /** Until the script, which changes nothing, answers what counts as true; answers that. */
    waitForFunction(script: PageFunction, argument?: Json, options?: Wait): Promise<any>;
    /** Runs `work`, and waits until the address is another than before, or `url`. */
    waitForNavigation(options?: Arrive & { url?: string }, work?: () => any): Promise<void>;
    waitForTimeout(time: Millis): Promise<void>;
    /** The oldest that was not taken yet. */
    waitForPopup(options?: Wait): Promise<Page>;
    waitForEvent(event: 'popup', options?: Wait): Promise<Page>;
    /** The oldest that was not taken yet, as soon as it has ended, as a file of the task. */
    waitForDownload(options?: Download): Promise<Artifact>;
    waitForEvent(event: 'download', options?: Download): Promise<Artifact>;

    /** The page at an address: this one, a popup, or, for a frame, the page that has it. */
    at(address: string, timeout?: Millis): Promise<Page>;
}
type AnyOf = Pick<Locator, 'change' | 'waitForElements' | 'click' | 'dblclick' | 'tap' | 'hover' | 'fill' | 'fillSecret' | 'check' | 'uncheck' | 'selectOption' | 'innerText' | 'evaluate' | 'waitFor'>;

declare class TextEncoder {
    encode(text?: string): Uint8Array;
}
declare class TextDecoder {
    decode(bytes?: Uint8Array | ArrayBuffer): string;
}
