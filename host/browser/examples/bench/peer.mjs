// The other side of the comparison: a verb a line in, its milliseconds a line out. See main.rs.
import { createRequire } from 'node:module';
import readline from 'node:readline';

const require = createRequire(`${process.env.PEER_MODULES || process.cwd()}/`);
const { chromium } = require('playwright-core');
const [executablePath, base] = process.argv.slice(2);

const browser = await chromium.launch({ executablePath, headless: true, args: ['--no-sandbox', '--disable-gpu'] });
const open = async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  return { context, page: await context.newPage() };
};
const { context, page } = await open();
await page.goto(`${base}/`);
let big = false;

const verbs = {
  ready: async () => true,
  'goto': async () => (await page.goto(`${base}/`)).status() === 200,
  'click': () => page.click('#btn').then(() => true),
  'click by role': () => page.getByRole('button', { name: 'Count', exact: true }).click().then(() => true),
  'click by text': () => page.getByText('Count', { exact: true }).click().then(() => true),
  'double click': () => page.dblclick('#btn').then(() => true),
  'hover': () => page.hover('#hover').then(() => true),
  'fill': () => page.fill('#name', 'Jane Doe').then(() => true),
  'type 20 characters': async () => {
    await page.fill('#notes', '');
    await page.locator('#notes').pressSequentially('twenty characters ok');
    return true;
  },
  'press': () => page.keyboard.press('Tab').then(() => true),
  'check and uncheck': async () => {
    await page.check('#agree');
    await page.uncheck('#agree');
    return true;
  },
  'select': async () => (await page.selectOption('#size', 'l'))[0] === 'l',
  'text': async () => (await page.innerText('h1')) === 'Order form',
  'count': async () => (await page.locator('li').count()) === 50,
  'evaluate': async () => (await page.evaluate('1 + 1')) === 2,
  'wait for': () => page.waitForSelector('#btn').then(() => true),
  'screenshot': async () => (await page.screenshot()).length > 1000,
  'pdf': async () => (await page.pdf()).length > 1000,
  'cookies': async () => (await context.cookies()).length === 1,
  'snapshot': async () => (await page.locator('body').ariaSnapshot({ mode: 'ai' })).match(/\[ref=/g).length > 100,
  'snapshot, 5000 items': async () => (await page.locator('body').ariaSnapshot({ mode: 'ai' })).match(/\[ref=/g).length > 9999,
};

for await (const verb of readline.createInterface({ input: process.stdin })) {
  if (verb === 'context and page') {
    const begin = performance.now();
    const opened = await open();
    if ((await opened.page.evaluate('1 + 1')) !== 2) throw new Error('the new page does not work');
    const elapsed = performance.now() - begin;
    await opened.context.close();
    await new Promise(resume => setTimeout(resume, 500));
    console.log(elapsed);
    continue;
  }
  if (verb.endsWith('items') !== big) {
    big = !big;
    await page.goto(big ? `${base}/big` : `${base}/`);
  }
  const begin = performance.now();
  const done = await verbs[verb]();
  console.log(done ? performance.now() - begin : `\`${verb}\` did something else`);
}
await browser.close();
