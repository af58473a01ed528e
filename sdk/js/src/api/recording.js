// What the scripts of recordings use beside the rest.

import { Failure } from './values.js';

export function stepsOf(log) {
    async function step(number, title, work) {
        log.info(`Step ${number}: ${title}`, { step: number });
        try {
            return await work();
        } catch (error) {
            const failure = new Failure(error?.code ?? 'failed', `step ${number} (${title}) failed: ${error?.message ?? error}`);
            failure.details = { ...error?.details, step: number };
            throw failure;
        }
    }
    return { step };
}
