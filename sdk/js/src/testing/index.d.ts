// A plugin's tools run without a host.
import type { Json } from '../names.js';

/** What actions of an element get: the page that it is on. */
export interface PageHandle {
    /** 1 for the first page that the tool opened. */
    readonly number: number;
    readonly url: string;
    /** What was filled into a field; `{ secret }` for a secret. */
    value(locator: string): string | { secret: string } | undefined;
    /** Takes the page to another address. */
    goto(url: string): void;
}
export interface ElementOptions {
    /** Its text, or what makes it. */
    text?: string | number | ((page: PageHandle) => string);
    /** False: it is there, and can't be seen. */
    visible?: boolean;
    /** How many match; 1 unless it is given. */
    count?: number;
    attributes?: Record<string, string>;
    /** What stands in the field at first. */
    value?: string;
    /** Where an action leads to, or what it does. */
    click?: Action;
    dblclick?: Action;
    tap?: Action;
    hover?: Action;
    focus?: Action;
    check?: Action;
    uncheck?: Action;
    fill?: (page: PageHandle, value: string | { secret: string }) => void;
    select?: (page: PageHandle, options: string[]) => void;
    upload?: (page: PageHandle, files: string[]) => void;
    drag?: (page: PageHandle, target: string) => void;
}
export type Action = string | ((page: PageHandle) => void);
export interface PageOptions {
    title?: string;
    /** 200 unless it is given. */
    status?: number;
    /** By locator, as `toString()` of one shows it: `#q`, `role=button[name="Search"]`. A text is short for `{ text }`. */
    elements?: Record<string, ElementOptions | string | number>;
    /** What `evaluate` answers on this page. */
    evaluate?: (script: string, argument: any) => Json;
    /** A key was pressed. */
    press?: (page: PageHandle, keys: string) => void;
}

export interface Request {
    method: string;
    url: string;
    /** Names in lower case. A secret is named, not shown. */
    headers: Record<string, string | { secret: string; prefix: string }>;
    body: string;
}
export interface Response {
    status?: number;
    headers?: Record<string, string>;
    json?: Json;
    body?: string;
}

export interface Question {
    key: string;
    message: string;
    schema: any;
    peopleOnly: boolean;
    timeout?: number;
}
export type Answer = { [field: string]: Json } | 'declined' | 'dismissed' | 'expired';

export interface RunOptions {
    /** By key of the question, or one function for all. */
    answers?: Record<string, Answer | ((question: Question) => Answer)> | ((question: Question) => Answer | undefined);
    /** By address, whole; or one function for all. */
    pages?: Record<string, PageOptions | ((url: string) => PageOptions)> | ((url: string) => PageOptions | undefined);
    /** By `METHOD ADDRESS` or address; or one function for all. */
    http?: Record<string, Response | ((request: Request) => Response)> | ((request: Request) => Response | undefined);
    /** What `secrets.reveal` answers. */
    secrets?: Record<string, string>;
    /** What earlier turns kept. */
    state?: Record<string, Json>;
    /** The follow-up that opens the turn. */
    message?: string;
    /** Follow-ups that come while the turn runs. */
    messages?: string[];
    /** 1 for the call. */
    turn?: number;
    /** When the turn begins, in milliseconds since 1970. */
    now?: number | Date;
    /** Chance follows it. */
    seed?: number;
    /** True: somebody has cancelled; waits fail with `cancelled`. */
    cancelled?: boolean;
}

export interface Run {
    status: 'completed' | 'failed';
    outcome?: { structured?: any; text?: string; content: any[]; question?: string };
    failure?: { code: string; message: string; details?: any };
    log: { level: 'trace' | 'debug' | 'info' | 'warn' | 'error'; text: string; fields: Record<string, string> }[];
    /** `goto https://…`, `fill #q mug`, `click #buy`, in their order. */
    actions: string[];
    questions: Question[];
    requests: Request[];
    artifacts: { id: string; name: string; mimeType: string; size: number; sha256: string; data: Uint8Array }[];
    output: { part: string; mimeType: string; text?: string; artifact?: string; last: boolean }[];
    progress: { done: number; total?: number; message: string }[];
    /** What the task said that it was doing. */
    statuses: string[];
    /** Milliseconds that were slept, without the tests waiting for them. */
    slept: number;
    state: Record<string, any>;
    /** The next turn, opened by a follow-up, with what this one kept. */
    continue(message: string, options?: RunOptions): Run;
}

export interface TestPlugin {
    readonly manifest: any;
    /** Runs a turn of a tool to its end. */
    run(tool: string, input?: { [field: string]: any }, options?: RunOptions): Run;
}

/** The plugin in the folder `root`, whose main module is `entry`, unless the build finds another. */
export declare function plugin(entry?: string, root?: string): Promise<TestPlugin>;
/** For an action, a page or a request: it fails with this code, such as `interrupted`, `page-lost`, `timeout`. */
export declare function refuse(code: string, message?: string, details?: Json): (...given: any[]) => never;
