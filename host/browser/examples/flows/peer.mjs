// The flows of flows.json with playwright-core: the same lines of JSON as main.rs prints.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(`${process.env.PEER_MODULES || process.cwd()}/`);
const { chromium } = require('playwright-core');
const [base, file, executablePath, folder] = process.argv.slice(2);
const OPTIONS = ['is', 'peer', 'plugin', 'within', 'any'];

const browser = await chromium.launch({ executablePath, headless: true, args: ['--no-sandbox', '--disable-gpu'] });

// Settings as Windlass names them.
function options(given = {}) {
  const [width, height] = (given.viewport || '1280x720').split('x').map(Number);
  const made = { viewport: { width, height }, acceptDownloads: true };
  if (given.scale) made.deviceScaleFactor = Number(given.scale);
  if (given.mobile) made.isMobile = true;
  if (given.touch) made.hasTouch = true;
  if (given.locale) made.locale = given.locale;
  if (given['time-zone']) made.timezoneId = given['time-zone'];
  if (given['color-scheme']) made.colorScheme = given['color-scheme'];
  if (given['user-agent']) made.userAgent = given['user-agent'];
  if (given.geolocation) {
    const [latitude, longitude] = given.geolocation.split(',').map(Number);
    Object.assign(made, { geolocation: { latitude, longitude }, permissions: ['geolocation'] });
  }
  return made;
}

// A chain of Windlass as one of Playwright: a frame has to be entered by a word of its own.
function locate(page, chain) {
  let scope = page;
  for (const step of chain.split(' >> ')) {
    const [, kind, rest] = step.match(/^([a-z-]+)=(.*)$/s) || [];
    const role = kind === 'role' && rest.match(/^(\w+)(?:\[name="(.*)"\])?$/);
    if (step.startsWith('iframe')) scope = scope.locator(step).contentFrame();
    else if (role) scope = scope.getByRole(role[1], role[2] === undefined ? {} : { name: role[2] });
    else if (kind === 'text') scope = scope.getByText(rest);
    else if (kind === 'label') scope = scope.getByLabel(rest);
    else if (kind === 'placeholder') scope = scope.getByPlaceholder(rest);
    else if (kind === 'has-text') scope = scope.filter({ hasText: rest });
    else if (kind === 'nth') scope = scope.nth(Number(rest));
    else if (kind === 'visible') scope = scope.filter({ visible: rest === 'true' });
    else scope = scope.locator(step);
  }
  return scope;
}

class Flow {
  async open(settings, state) {
    this.context = await browser.newContext({ ...options(settings), ...(state && { storageState: state }) });
    this.context.setDefaultTimeout(10000);
    this.popups = [];
    this.downloads = [];
    this.waiting = [];
    this.rule = 'dismiss';
    this.page = await this.context.newPage();
    this.first = this.page;
    this.context.on('page', (page) => { this.popups.push(page); this.listen(page); });
    this.listen(this.page);
  }

  listen(page) {
    page.said = { console: [], errors: [], requests: [] };
    page.on('console', (message) => page.said.console.push(message.text()));
    page.on('pageerror', (error) => page.said.errors.push(error.message));
    page.on('request', (request) => page.said.requests.push(request.url()));
    page.on('download', (download) => this.downloads.push(download));
    page.on('dialog', (dialog) => {
      const answer = dialog.type() === 'beforeunload' || this.rule === 'accept' ? dialog.accept()
        : this.rule[0] === 'prompt' && dialog.type() === 'prompt' ? dialog.accept(this.rule[1]) : dialog.dismiss();
      answer.catch(() => 0);
    });
  }

  // What came unasked may have come before it is asked for.
  async taken(queue, event) {
    const until = performance.now() + 10000;
    while (queue.length === 0) {
      if (performance.now() > until) throw new Error(`no ${event}`);
      await new Promise((end) => setTimeout(end, 10));
    }
    return queue.shift();
  }

  path(url) { return url.startsWith(base) ? url.slice(base.length) : url; }

  async step(verb, wants, timeout) {
    const { page, context } = this;
    const [first, second] = Array.isArray(wants) ? wants : [wants];
    const at = () => locate(page, first);
    const files = () => wants.slice(1).map((name) => path.join(this.files, name));
    const within = { timeout };
    switch (verb) {
      case 'goto': return (await page.goto(base + first, within)).status();
      case 'back': await page.goBack(within); return this.path(page.url());
      case 'forward': await page.goForward(within); return this.path(page.url());
      case 'reload': await page.reload(within); return this.path(page.url());
      case 'url': return this.path(page.url());
      case 'title': return page.title();
      case 'click': {
        const { position, ...rest } = second || {};
        return at().click({ ...rest, ...(position && { position: { x: position[0], y: position[1] } }), ...within });
      }
      case 'dblclick': return at().dblclick(within);
      case 'tap': return at().tap(within);
      case 'hover': return at().hover(within);
      case 'focus': return at().focus(within);
      case 'fill': return at().fill(second, within);
      case 'type': return at().pressSequentially(second, within);
      case 'press': return page.keyboard.press(first);
      case 'check': return at().check(within);
      case 'uncheck': return at().uncheck(within);
      case 'select': return at().selectOption(wants.slice(1), within);
      case 'drag': return at().dragTo(locate(page, second), within);
      case 'scroll': return page.mouse.wheel(0, wants);
      case 'scroll-to': return at().scrollIntoViewIfNeeded(within);
      case 'upload': return at().setInputFiles(files(), within);
      case 'choose': {
        const [chooser] = await Promise.all([page.waitForEvent('filechooser', within), at().click(within)]);
        return chooser.setFiles(files(), within);
      }
      case 'text': return (await at().innerText(within)).trim();
      case 'value': return at().inputValue(within);
      case 'attribute': return at().getAttribute(second, within);
      case 'html': return at().innerHTML(within);
      case 'count': return at().count();
      case 'evaluate': return page.evaluate(first);
      case 'evaluate-on': return at().evaluate(new Function(`return (${second})(...arguments)`), null, within);
      case 'wait-for': return at().waitFor({ state: second, ...within });
      case 'wait-for-text': return page.getByText(first).first().waitFor(within);
      case 'wait-for-text-gone': return page.getByText(first).first().waitFor({ state: 'hidden', ...within });
      case 'wait-for-url': {
        const escaped = first.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
        return page.waitForURL(new RegExp(`^${escaped}$`), within);
      }
      case 'wait-for-load': return page.waitForLoadState(first, within);
      case 'wait-for-function': await page.waitForFunction(first, null, within); return undefined;
      case 'snapshot': return (await page.locator('body').ariaSnapshot({ mode: 'ai', ...within })).includes(first);
      case 'click-ref': {
        const snapshot = await page.locator('body').ariaSnapshot({ mode: 'ai', ...within });
        const line = snapshot.split('\n').find((one) => one.includes(first));
        if (!line) throw new Error('not in the snapshot');
        return page.locator(`aria-ref=${line.match(/\[ref=(\w+)\]/)[1]}`).click(within);
      }
      case 'screenshot': {
        const image = wants.locator ? await locate(page, wants.locator).screenshot(within)
          : await page.screenshot({ fullPage: wants.full === true, ...within });
        return `${image.readUInt32BE(16)}x${image.readUInt32BE(20)}`;
      }
      case 'pdf': return (await page.pdf()).subarray(0, 5).toString() === '%PDF-';
      case 'dialogs': this.rule = wants; return undefined;
      case 'offline': return context.setOffline(wants);
      case 'console': return page.said.console.some((text) => text.includes(first));
      case 'errors': return page.said.errors.some((text) => text.includes(first));
      case 'requests': return page.said.requests.some((url) => url.endsWith(first));
      case 'download': {
        const download = await this.taken(this.downloads, 'download');
        return [download.suggestedFilename(), statSync(await download.path()).size];
      }
      case 'popup':
        this.page = await this.taken(this.popups, 'popup');
        return this.page.waitForLoadState('domcontentloaded');
      case 'opener': this.page = this.first; return undefined;
      case 'close': return page.close();
      case 'cookies': return (await context.cookies()).map(({ name, value }) => `${name}=${value}`).sort();
      case 'clear-cookies': return context.clearCookies();
      case 'renew': {
        const state = await context.storageState();
        await context.close();
        return this.open({}, first === 'with state' ? state : undefined);
      }
      default: throw new Error(`unknown verb ${verb}`);
    }
  }
}

async function run(flow, steps) {
  const saw = [];
  for (const step of steps) {
    const verb = Object.keys(step).find((key) => !OPTIONS.includes(key));
    const acts = step.is === 'done' || step.is === 'fails';
    try {
      const value = await flow.step(verb, step[verb], step.within || 10000);
      if ('is' in step) saw.push(acts && (value === undefined || value === null) ? 'done' : value);
    } catch (error) {
      if (acts) saw.push('fails');
      else if (!step.any) throw new Error(`${verb} ${JSON.stringify(step[verb])}: ${error.message.split('\n').slice(0, 3).join(' ')}`);
    }
  }
  return saw;
}

for (const { name, steps, page, files = {} } of JSON.parse(readFileSync(file, 'utf8'))) {
  const began = performance.now();
  const flow = new Flow();
  flow.files = path.join(folder, name.replaceAll(/\W+/g, '-'));
  mkdirSync(flow.files, { recursive: true });
  for (const [called, text] of Object.entries(files)) writeFileSync(path.join(flow.files, called), text);
  let saw = null, error = null;
  try {
    await flow.open(page);
    saw = await run(flow, steps);
  } catch (failure) {
    error = failure.message;
  }
  await flow.context.close();
  console.log(JSON.stringify({ name, saw, error, ms: Math.round(performance.now() - began) }));
}
await browser.close();
