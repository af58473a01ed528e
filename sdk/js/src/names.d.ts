// What a plugin imports of the API. Made of windlass.d.ts by `node types/make.mjs`.
/** A page that is opened when it is first used. */
export declare const page: Page;

/** Milliseconds. */
export type Millis = number;
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** An error of the host has a `code`, such as `timeout`, `denied`, `not-found`, `page-lost` or `interrupted`. */
export interface HostError extends Error {
    code: string;
    details?: any;
}
/** Ends the script as failed with a code of your own, unless it is caught. */
export declare class Failure extends Error {
    constructor(code: string, message: string, details?: Json);
    code: string;
    details?: any;
}
/** Throws a `Failure`. */
export declare function fail(code: string, message: string, details?: Json): never;
/** A returned value with text, files or a question: a question leaves the task open for a follow-up. */
export declare function outcome(value?: any, options?: { text?: string; content?: (string | Artifact | Json)[]; question?: string }): any;

export declare const log: Record<'trace' | 'debug' | 'info' | 'warn' | 'error', (message: any, fields?: Record<string, any>) => void>;
/** A piece of output while the script runs; pieces of one part are one text. */
export declare function emit(piece: string | Artifact | Json, options?: { part?: string; last?: boolean; mimeType?: string }): void;
export declare function progress(done: number, total?: number, message?: string): void;
/** One line that says what is going on. */
export declare function status(text: string): void;

/** Waits, also over restarts of the host. */
export declare function sleep(time: Millis): Promise<void>;

export interface Question {
    message: string;
    /** JSON Schema of a flat form; without it one text, `answer`, is asked for. */
    schema?: object;
    /** Unique in the turn; `q1`, `q2` … unless given. */
    key?: string;
    /** Never offered to a model. */
    peopleOnly?: boolean;
    timeout?: Millis;
}
export interface Answer {
    accepted: boolean;
    action: 'accepted' | 'declined' | 'dismissed' | 'expired';
    /** The form, if it was accepted. */
    value?: any;
}
/** Asks the people who watch, and waits for as long as it takes. */
export declare function ask(question: string | Question): Promise<Answer>;
export declare function ask(questions: (string | Question)[]): Promise<Answer[]>;
/** True only for a yes. */
export declare function confirm(message: string, options?: Omit<Question, 'message' | 'schema'>): Promise<boolean>;

/** Values that live across the turns of the task. */
export declare const state: {
    get(key: string): Promise<any>;
    set(key: string, value: Json): Promise<void>;
    delete(key: string): Promise<void>;
    keys(prefix?: string): Promise<string[]>;
};

export interface Artifact {
    id: string;
    name: string;
    mimeType: string;
    size: number;
    sha256: string;
}
/** Files that people can download. */
export declare const artifacts: {
    save(name: string, data: string | Uint8Array | ArrayBuffer | Json, options?: { mimeType?: string }): Promise<Artifact>;
    read(file: Artifact | string): Promise<Uint8Array>;
    readText(file: Artifact | string): Promise<string>;
};

/** Stands for a secret in a header: the host sends it, the script never sees it. */
export declare function secret(name: string, prefix?: string): { secret: string; prefix: string };
export declare const secrets: {
    /** The secret itself; needs `reveal NAME`. */
    reveal(name: string): Promise<string>;
};
export interface RequestOptions {
    headers?: Record<string, string | { secret: string; prefix: string }>;
    timeout?: Millis;
    /** How many are followed; 10 at most. */
    redirects?: number;
}
export type Body = string | Uint8Array | Json;
export interface HttpAnswer {
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
export declare const http: {
    request(method: string, url: string, options?: RequestOptions & { body?: Body }): Promise<HttpAnswer>;
    get(url: string, options?: RequestOptions): Promise<HttpAnswer>;
    head(url: string, options?: RequestOptions): Promise<HttpAnswer>;
    delete(url: string, options?: RequestOptions): Promise<HttpAnswer>;
    post(url: string, body?: Body, options?: RequestOptions): Promise<HttpAnswer>;
    put(url: string, body?: Body, options?: RequestOptions): Promise<HttpAnswer>;
    patch(url: string, body?: Body, options?: RequestOptions): Promise<HttpAnswer>;
};

export interface Message {
    id: number;
    text: string;
    sender: string;
    /** Milliseconds since 1970, UTC. */
    sentAt: number;
}
export declare const task: {
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

export interface OpenOptions {
    viewport?: { width: number; height: number } | string;
    locale?: string;
    timeZone?: string;
    userAgent?: string;
}
export declare const browser: {
    open(options?: OpenOptions): Promise<Page>;
    /** Opens a page, runs `work` with it, lets go of it. If the page is lost, again with another; `repeatable`: also if an action was interrupted. */
    withPage<T>(work: (page: Page) => Promise<T> | T, options?: OpenOptions & { repeatable?: boolean }): Promise<T>;
};

export interface Wait {
    timeout?: Millis;
}
export interface Shot extends Wait {
    /** Name of the file. */
    name?: string;
    path?: string;
    fullPage?: boolean;
    format?: 'png' | 'jpeg' | 'webp';
    quality?: number;
}
export interface TextOptions {
    /** The whole text, letter by letter; else it may stand within another, whatever the case. */
    exact?: boolean;
}

export interface Finder {
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

export interface Page extends Finder {
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

export type State = 'visible' | 'hidden' | 'attached' | 'detached';
export interface Locator extends Finder {
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
