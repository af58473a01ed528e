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
    set(key: string, value: Json): Promise<void>;
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
declare function secret(name: string, prefix?: string): { secret: string; prefix: string };
declare const secrets: {
    /** The secret itself; needs `reveal NAME`. */
    reveal(name: string): Promise<string>;
};
interface RequestOptions {
    headers?: Record<string, string | { secret: string; prefix: string }>;
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
    viewport?: { width: number; height: number } | string;
    locale?: string;
    timeZone?: string;
    userAgent?: string;
}
declare const browser: {
    open(options?: OpenOptions): Promise<Page>;
    /** Opens a page, runs `work` with it, lets go of it. If the page is lost, again with another; `repeatable`: also if an action was interrupted. */
    withPage<T>(work: (page: Page) => Promise<T> | T, options?: OpenOptions & { repeatable?: boolean }): Promise<T>;
};

interface Wait {
    timeout?: Millis;
}
interface Shot extends Wait {
    /** Name of the file. */
    name?: string;
    path?: string;
    fullPage?: boolean;
    format?: 'png' | 'jpeg' | 'webp';
    quality?: number;
}
interface TextOptions {
    /** The whole text, letter by letter; else it may stand within another, whatever the case. */
    exact?: boolean;
}

interface Finder {
    /** CSS, or any locator of the host. */
    locator(selector: string | Locator): Locator;
    getByRole(role: string, options?: TextOptions & { name?: string | RegExp; [state: string]: any }): Locator;
    getByText(text: string | RegExp, options?: TextOptions): Locator;
    getByLabel(text: string | RegExp, options?: TextOptions): Locator;
    getByPlaceholder(text: string | RegExp, options?: TextOptions): Locator;
    getByAltText(text: string | RegExp, options?: TextOptions): Locator;
    getByTitle(text: string | RegExp, options?: TextOptions): Locator;
    getByTestId(id: string | RegExp): Locator;
}

interface Page extends Finder {
    readonly keyboard: { press(keys: string, options?: Wait): Promise<void> };
    setDefaultTimeout(time: Millis): void;
    goto(url: string, options?: Wait): Promise<{ url: string; status: number }>;
    url(): Promise<string>;
    title(): Promise<string>;
    click(selector: string | Locator, options?: Wait): Promise<void>;
    fill(selector: string | Locator, value: string, options?: Wait): Promise<void>;
    /** `Enter`, `Control+A`. */
    press(keys: string, options?: Wait): Promise<void>;
    textContent(selector: string | Locator, options?: Wait): Promise<string>;
    innerText(selector: string | Locator, options?: Wait): Promise<string>;
    waitForSelector(selector: string | Locator, options?: Wait & { state?: State }): Promise<void>;
    waitForURL(url: string | RegExp | ((url: string) => boolean), options?: Wait): Promise<string>;
    /** Runs `work`, and waits until the address is another than before, or `url`. */
    waitForNavigation(options?: Wait & { url?: string }, work?: () => any): Promise<string>;
    waitForTimeout(time: Millis): Promise<void>;
    screenshot(options?: Shot): Promise<Artifact>;
    close(): Promise<void>;
    /** An element by several locators: the first that can be seen is taken. */
    anyOf(...selectors: (string | Locator)[]): Pick<Locator, 'click' | 'fill' | 'fillSecret' | 'innerText' | 'waitFor'>;
}

type State = 'visible' | 'hidden' | 'attached' | 'detached';
interface Locator extends Finder {
    first(): Locator;
    last(): Locator;
    nth(at: number): Locator;
    filter(options: { hasText?: string | RegExp; hasNotText?: string | RegExp; has?: Locator; visible?: boolean }): Locator;
    click(options?: Wait): Promise<void>;
    /** Replaces the value of a field. */
    fill(value: string, options?: Wait): Promise<void>;
    /** Fills in a secret by its name; needs `secret NAME`, and a page of an origin that it is bound to. */
    fillSecret(name: string, options?: Wait): Promise<void>;
    /** The rendered text. */
    textContent(options?: Wait): Promise<string>;
    innerText(options?: Wait): Promise<string>;
    waitFor(options?: Wait & { state?: State }): Promise<void>;
    screenshot(options?: Shot): Promise<Artifact>;
}

declare class TextEncoder {
    encode(text?: string): Uint8Array;
}
declare class TextDecoder {
    decode(bytes?: Uint8Array | ArrayBuffer): string;
}
