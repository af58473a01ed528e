// windlass/testing: what a run shows, and where a test is told that it forgot something.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plugin, refuse } from 'windlass/testing';
import { oneTool, project } from './project.js';

/** The one tool's plugin, tested. */
const made = (t, body, options) => plugin('index.js', project(t, { 'index.js': oneTool(body, options) }));

test('the log, the output and the outcome are shown', async (t) => {
    const run = (await made(t, `
        console.log('a', 1);
        names.log.warn('b', { c: [1] });
        names.emit('piece', { part: 'x' });
        names.progress(1, 3, 'of three');
        names.status('busy');
        return names.outcome({ a: 1 }, { text: 'done', question: 'more?' });`)).run('t');
    assert.equal(run.status, 'completed');
    assert.deepEqual(run.log, [{ level: 'info', text: 'a 1', fields: {} }, { level: 'warn', text: 'b', fields: { c: '[1]' } }]);
    assert.deepEqual(run.output, [{ part: 'x', mimeType: 'text/plain', text: 'piece', last: false }]);
    assert.deepEqual([run.progress, run.statuses], [[{ done: 1, total: 3, message: 'of three' }], ['busy']]);
    assert.deepEqual([run.outcome.structured, run.outcome.text, run.outcome.question], [{ a: 1 }, 'done', 'more?']);
});

test('what is returned becomes the outcome', async (t) => {
    const tested = await made(t, 'return input.value;');
    const of = (value) => tested.run('t', { value }).outcome;
    assert.deepEqual(of({ a: [1] }).structured, { a: [1] });
    assert.deepEqual([of('text').text, of('text').structured], ['text', undefined]);
    assert.deepEqual(of([1, 2]).structured, { value: [1, 2] });
    assert.deepEqual(of(undefined), { structured: undefined, text: undefined, content: [], question: undefined });
});

test('nothing waits, and the clock goes on', async (t) => {
    const tested = await made(t, `
        const begin = Date.now();
        await names.sleep(3_600_000);
        return { begin, took: Date.now() - begin, date: new Date().toISOString(), of: new Date(0).getTime() };`);
    const run = tested.run('t', {}, { now: Date.UTC(2030, 0, 1) });
    assert.deepEqual(run.outcome.structured, { begin: Date.UTC(2030, 0, 1), took: 3_600_000, date: '2030-01-01T01:00:00.000Z', of: 0 });
    assert.equal(run.slept, 3_600_000);
});

test('chance follows the seed', async (t) => {
    const tested = await made(t, 'return Math.random();');
    const draw = (seed) => tested.run('t', {}, { seed }).outcome.structured.value;
    assert.equal(draw(1), draw(1));
    assert.notEqual(draw(1), draw(2));
});

test('a follow-up goes on with what was kept', async (t) => {
    const tested = await made(t, `
        const count = ((await names.state.get('count')) ?? 0) + 1;
        await names.state.set('count', count);
        return { count, turn: names.task.turn, said: names.task.message?.text ?? null };`);
    const first = tested.run('t', {}, { state: { count: 4 } });
    assert.deepEqual(first.outcome.structured, { count: 5, turn: 1, said: null });
    const third = first.continue('again').continue('and again');
    assert.deepEqual(third.outcome.structured, { count: 7, turn: 3, said: 'and again' });
    assert.deepEqual(third.state, { count: 7 });
});

test('modules are new in each run', async (t) => {
    const tested = await made(t, 'runs += 1; return { runs };', { before: 'let runs = 0;' });
    assert.deepEqual([tested.run('t'), tested.run('t')].map((run) => run.outcome.structured.runs), [1, 1]);
});

test('a failure names its line', async (t) => {
    const tested = await made(t, "if (input.soft) names.fail('sold-out', 'no mug left', { left: 0 });\nconst mug = undefined;\nreturn mug.price;");
    const soft = tested.run('t', { soft: true });
    assert.equal(soft.status, 'failed');
    assert.equal(soft.failure.code, 'sold-out');
    assert.equal(soft.failure.details.left, 0);
    const hard = tested.run('t').failure;
    assert.match(hard.message, /^TypeError: [^]* \(index\.js:6:12\)\n\n[^]*> 6 \| return mug\.price;\n +\| {12}\^/);
    assert.deepEqual([hard.details.script.file, hard.details.script.line], ['index.js', 6]);
});

test('a question gets the answer of the test, which has to fit', async (t) => {
    const tested = await made(t, `
        const schema = { type: 'object', properties: { size: { type: 'string', enum: ['s', 'l'] } }, required: ['size'] };
        return names.ask({ key: 'size', message: 'Which?', schema, peopleOnly: true, timeout: 1000 });`);
    const answer = (answers) => tested.run('t', {}, { answers }).outcome.structured;
    assert.deepEqual(answer({ size: { size: 'l' } }), { accepted: true, action: 'accepted', value: { size: 'l' } });
    assert.deepEqual(answer(() => 'declined'), { accepted: false, action: 'declined' });
    assert.deepEqual(answer({ size: ({ message }) => (message === 'Which?' ? 'expired' : undefined) }), { accepted: false, action: 'expired' });
    assert.throws(() => answer({}), /the tool asked `size` \(Which\?\), and the test has no answer to it/);
    assert.throws(() => answer({ size: { size: 'xl' } }), /none that the form takes: size must be one of \["s","l"\], not "xl"/);
    assert.throws(() => answer({ size: {} }), /size is missing/);
});

test('pages are what the test says', async (t) => {
    const tested = await made(t, `
        const page = await names.browser.open();
        await page.goto('https://shop.example');
        await page.fill('#q', 'mug');
        await page.getByRole('button', { name: 'Search' }).click();
        await page.press('Enter');
        return { url: await page.url(), title: await page.title(), text: await page.innerText('#found') };`, { permissions: ['browser https://shop.example'] });
    const found = { title: 'Found', elements: { '#found': { text: ({ url }) => new URL(url).search } } };
    const search = { click: (page) => page.goto(`/search?q=${page.value('#q')}`) };
    const pages = { 'https://shop.example/': { elements: { '#q': {}, 'role=button[name="Search"]': search } }, 'https://shop.example/search?q=mug': found };
    const run = tested.run('t', {}, { pages });
    assert.deepEqual(run.outcome.structured, { url: 'https://shop.example/search?q=mug', title: 'Found', text: '?q=mug' });
    assert.deepEqual(run.actions.slice(0, 4), ['goto https://shop.example', 'fill #q mug', 'click role=button[name="Search"]', 'press Enter']);

    pages['https://shop.example/'].elements['role=button[name="Search"]'] = { visible: false };
    assert.match(tested.run('t', {}, { pages }).failure.message, /^role=button\[name="Search"\] cannot be seen on https:\/\/shop\.example\/; the test's page has #q, role/);
    assert.throws(() => tested.run('t'), /a page went to https:\/\/shop\.example\/, and the test has no such page; it has nothing/);
    pages['https://shop.example/'].elements['role=button[name="Search"]'] = { click: 'https://evil.example/' };
    assert.equal(tested.run('t', {}, { pages }).failure.details.grant, 'browser https://evil.example');
});

test('fields, lists, counts and scripts of a page', async (t) => {
    const tested = await made(t, `
        const page = await names.browser.open();
        await page.goto('https://a.example');
        await page.getByLabel('Terms').check();
        await page.locator('#size').selectOption('l');
        await page.locator('#note').pressSequentially('ab');
        await page.locator('#item').hover();
        await page.waitForURL('https://a.example/');
        return {
            note: await page.locator('#note').inputValue(),
            rows: await page.locator('.row').count(),
            none: await page.locator('.none').count(),
            href: await page.locator('#item').getAttribute('href'),
            sum: await page.evaluate((n) => n + 1, 41),
        };`, { permissions: ['browser *'] });
    const done = [];
    const elements = {
        'label="Terms"': { check: () => done.push('checked') },
        '#size': { select: (_, options) => done.push(...options) },
        '#note': {},
        '.row': { count: 3 },
        '#item': { attributes: { href: '/mug' }, hover: () => done.push('hovered') },
    };
    const pages = { 'https://a.example/': { elements, evaluate: (script, n) => n + 1 } };
    const run = tested.run('t', {}, { pages });
    assert.deepEqual(run.outcome?.structured, { note: 'ab', rows: 3, none: 0, href: '/mug', sum: 42 }, run.failure?.message);
    assert.deepEqual(done, ['checked', 'l', 'hovered']);
});

test('a lost page is opened again, a press in doubt is not repeated', async (t) => {
    const tested = await made(t, `
        return names.browser.withPage(async (page) => {
            await page.goto('https://a.example');
            await page.click('#buy');
            return 'bought';
        });`, { permissions: ['browser *'] });
    let clicks = 0;
    const pages = (code) => ({ 'https://a.example/': { elements: { '#buy': { click: (page) => (++clicks === 1 ? refuse(code)() : undefined) } } } });
    assert.equal(tested.run('t', {}, { pages: pages('page-lost') }).outcome.text, 'bought');
    assert.equal(clicks, 2);
    clicks = 0;
    assert.equal(tested.run('t', {}, { pages: pages('interrupted') }).failure.code, 'interrupted');
    assert.equal(clicks, 1);
});

test('requests get the answer of the test, and secrets are named', async (t) => {
    const tested = await made(t, `
        const stock = await names.http.get('https://a.example/stock', { headers: { Authorization: names.secret('key', 'Bearer ') } });
        const made = await names.http.post('https://a.example/orders', { item: 'mug' });
        return { left: stock.json().left, status: made.status, ok: made.ok, shown: await names.secrets.reveal('key') };`, { permissions: ['http *', 'secret key', 'reveal key'] });
    const http = { 'https://a.example/stock': { json: { left: 3 } }, 'POST https://a.example/orders': ({ body }) => ({ status: JSON.parse(body).item === 'mug' ? 409 : 200 }) };
    const run = tested.run('t', {}, { http, secrets: { key: 'k3y' } });
    assert.deepEqual(run.outcome.structured, { left: 3, status: 409, ok: false, shown: 'k3y' });
    assert.deepEqual(run.requests[0].headers, { authorization: { secret: 'key', prefix: 'Bearer ' } });
    assert.throws(() => tested.run('t', {}, { http }), /reveals the secret key, and the test has none/);
    assert.throws(() => tested.run('t'), /the tool sent GET https:\/\/a\.example\/stock, and the test has no answer/);
});

test('what the permissions do not ask for is denied, as a host would', async (t) => {
    const tested = await made(t, "try { await names.http.get('https://a.example/'); } catch (error) { return { code: error.code, grant: error.details?.grant }; }", { permissions: ['http https://b.example'] });
    assert.deepEqual(tested.run('t').outcome.structured, { code: 'denied', grant: 'http https://a.example' });
});

test('files are kept and read', async (t) => {
    const tested = await made(t, "const file = await names.artifacts.save('a.csv', 'ä;1', { mimeType: 'text/csv' }); return { id: file.id, text: await names.artifacts.readText(file) };");
    const run = tested.run('t');
    assert.deepEqual(run.outcome.structured, { id: 'a1', text: 'ä;1' });
    assert.deepEqual([run.artifacts[0].name, run.artifacts[0].mimeType, run.artifacts[0].data.toString()], ['a.csv', 'text/csv', 'ä;1']);
});

test('a cancelled wait fails, and the tool may tidy up', async (t) => {
    const tested = await made(t, "try { await names.sleep(1000); } catch (error) { names.log.warn(`after ${error.code} ${names.task.isCancelled()}`); throw error; }");
    const run = tested.run('t', {}, { cancelled: true });
    assert.deepEqual([run.failure.code, run.log[0].text], ['cancelled', 'after cancelled true']);
});

test('an input that the host would refuse fails the test', async (t) => {
    const source = "import { plugin, tool } from 'windlass';\nexport default plugin({ name: 'p', tools: [tool({ name: 'buy', input: { type: 'object', properties: { count: { type: 'integer', minimum: 1 } }, required: ['count'], additionalProperties: false }, run: (input) => input })] });";
    const tested = await plugin('index.js', project(t, { 'index.js': source }));
    assert.throws(() => tested.run('buy'), /count is missing/);
    assert.throws(() => tested.run('buy', { count: 1.5 }), /count must be integer, not 1\.5/);
    assert.throws(() => tested.run('buy', { count: 0 }), /count is out of bounds: 0/);
    assert.throws(() => tested.run('buy', { count: 1, colour: 'red' }), /colour is not known/);
    assert.throws(() => tested.run('sell', {}), /no tool `sell`; it has buy/);
    assert.deepEqual(tested.run('buy', { count: 2 }).outcome.structured, { count: 2 });
});

test('TypeScript needs nothing more', async (t) => {
    const source = "import { plugin, tool } from 'windlass';\nimport { twice } from './twice.ts';\nexport default plugin({ name: 'p', tools: [tool({ name: 't', run: async (): Promise<string> => twice('a') as string })] });";
    const root = project(t, { 'src/index.ts': source, 'src/twice.ts': 'export const twice = (text: string): string => text + text;' });
    assert.equal((await plugin(undefined, root)).run('t').outcome.text, 'aa');
});
