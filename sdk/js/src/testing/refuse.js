// What a host refuses.

/** As the contract's functions throw it. */
export class Refusal {
    constructor(code, message, details) {
        Object.assign(this, { code, message, details: details === undefined ? null : JSON.stringify(details) });
    }
}

/** For a page, an element's action or a request: it fails with this code, such as `interrupted` or `page-lost`. */
export const refuse = (code, message = `the test refuses with ${code}`, details) => () => {
    throw new Refusal(code, message, details);
};

/** What a test did not foresee: it fails the test, whatever the tool makes of it. */
export class Unforeseen extends Error {
    name = 'Unforeseen';
}
