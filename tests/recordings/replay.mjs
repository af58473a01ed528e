// Runs every recording of a folder by the official runner, and holds what comes of it against expected.json: the same that
// tests/all/recordings.rs asks of Windlass.
//
// node replay.mjs SITE CHROMIUM FOLDER

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createRunner, parse, PuppeteerRunnerExtension } from '@puppeteer/replay';
import puppeteer from 'puppeteer-core';

const [site, executablePath, folder] = process.argv.slice(2);
const expected = JSON.parse(readFileSync(join(folder, 'expected.json')));
const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.json') && file !== 'expected.json').sort();

/** Counts the steps, so that a failure has a number. */
class Counted extends PuppeteerRunnerExtension {
    step = 0;
    async beforeEachStep() { this.step++; }
}

const orders = async () => (await (await fetch(`${site}/api/orders`)).json()).orders;

/** The number of the step that failed, 0 for none, and why. */
async function replay(text) {
    const browser = await puppeteer.launch({ executablePath, headless: true, args: ['--no-sandbox'] });
    const page = await browser.newPage();
    await page.setViewport({ width: 800, height: 600 });
    const extension = new Counted(browser, page, { timeout: 5000 });
    try {
        await (await createRunner(parse(JSON.parse(text)), extension)).run();
        return { failed: 0 };
    } catch (error) {
        return { failed: extension.step, why: String(error.message).split('\n')[0] };
    } finally {
        await browser.close();
    }
}

let wrong = 0;
for (const file of files) {
    const before = await orders();
    const { failed, why } = await replay(readFileSync(join(folder, file), 'utf8').replaceAll('SITE', site));
    const ordered = (await orders()) - before;
    const fits = failed === (expected.fails[file] ?? 0) && ordered === (expected.orders[file] ?? 0);
    wrong += fits ? 0 : 1;
    const what = failed === 0 ? 'all steps' : `fails at step ${failed}`;
    console.log(`${fits ? 'as expected' : 'NOT AS EXPECTED'}  ${file}: ${what}${fits || !why ? '' : ` (${why})`}`);
}
console.log(`${files.length} recordings, ${wrong} other than expected`);
process.exit(wrong === 0 ? 0 : 1);
