// One tool a case. TypeScript, over two modules: places in failures are those of these files.
import { artifacts, ask, browser, http, log, outcome, plugin, progress, secret, sleep, state, status, tool } from 'windlass';
import { Basket, lateFailure } from './basket.ts';

const anything = { type: 'object' } as const;

export default plugin({
    permissions: ['browser *', 'http *', 'secret shop-token'],
    tools: [
        tool({
            name: 'js-says',
            description: 'Console, fields, output.',
            input: { type: 'object', properties: { name: { type: 'string', default: 'Ada' } } },
            async run({ name }, { task }) {
                console.log('hello %s', name, { a: [1, 'b'] });
                console.warn(new TypeError('only said'));
                log.info('with fields', { list: [1, 2], on: true });
                status('counting');
                progress(1, 2, 'half');
                return { name, turn: task.turn, tool: task.tool };
            },
        }),
        tool({
            name: 'js-async',
            description: 'Generators, timers, promises of all kinds, in their order.',
            input: anything,
            async run() {
                const order: string[] = [];
                async function* numbers() {
                    for (let n = 1; n <= 3; n++) {
                        await sleep(1);
                        yield n;
                    }
                }
                setTimeout(() => order.push('timer'), 5);
                queueMicrotask(() => order.push('microtask'));
                void Promise.resolve().then(() => order.push('then'));
                order.push('sync');
                await null;
                for await (const n of numbers()) order.push(`n${n}`);
                await Promise.all([sleep(20).then(() => order.push('20')), sleep(10).then(() => order.push('10'))]);
                const settled = await Promise.allSettled([Promise.reject(new Error('no')), 1]);
                order.push(settled.map((one) => one.status).join());
                order.push(await Promise.race([sleep(50).then(() => 'late'), sleep(5).then(() => 'early')]));
                order.push(await Promise.any([Promise.reject(1), Promise.resolve('any')]));
                const basket = new Basket();
                await basket.put('mug');
                order.push(basket.shown);
                return { order };
            },
        }),
        tool({
            name: 'js-fails',
            description: 'Fails in a way that is asked for.',
            input: { type: 'object', properties: { how: { type: 'string' } }, required: ['how'] } as const,
            async run({ how }) {
                if (how === 'throws') return (undefined as any).price;
                if (how === 'deep') await new Basket().put(undefined as any);
                if (how === 'rejects') void lateFailure();
                if (how === 'stuck') await new Promise(() => {});
                if (how === 'spins') for (;;);
                if (how === 'nothing') throw 'a text';
                if (how === 'recurses') (function again(): void { again(); })();
                if (how === 'host') await http.get('https://nowhere.example/');
                if (how === 'settings') await sleep('soon' as any);
                await sleep(10);
                return { how };
            },
        }),
        tool({
            name: 'js-again',
            description: 'Chance, time and waits, for hosts that are restarted.',
            input: anything,
            async run() {
                const seen: string[] = [];
                const file = await artifacts.save('a.txt', 'ä €😀');
                for (let round = 1; round <= 12; round++) {
                    seen.push(`${round} ${Math.random()} ${Date.now()} ${performance.now()}`);
                    log.info(seen.at(-1));
                    await state.set('round', round);
                    await Promise.all([sleep(120), sleep(60)]);
                }
                return { seen, round: await state.get('round'), text: await artifacts.readText(file) };
            },
        }),
        tool({
            name: 'js-asks',
            description: 'A question, a follow-up.',
            input: anything,
            async run(_input, { task }) {
                if (task.turn > 1) return { said: task.message?.text, colour: await state.get('colour') };
                const schema = { type: 'object', properties: { colour: { type: 'string', enum: ['red', 'blue'] } }, required: ['colour'] };
                const answer = await ask({ key: 'colour', message: 'Which colour?', schema });
                await state.set('colour', answer.value.colour);
                return outcome({ colour: answer.value.colour }, { text: 'A draft', question: 'Better?' });
            },
        }),
        tool({
            name: 'js-sends',
            description: 'A request.',
            input: { type: 'object', properties: { shop: { type: 'string' } }, required: ['shop'] } as const,
            async run({ shop }) {
                const orders = await http.get(`${shop}/api/orders`, { headers: { accept: 'application/json' } });
                const none = await http.post(`${shop}/nothing-here`, { a: 1 });
                let refused: any;
                try {
                    await http.get(`${shop}/api/orders`, { headers: { authorization: secret('shop-token', 'Bearer ') } });
                } catch (error) {
                    refused = error;
                }
                return { ok: orders.ok, json: orders.json(), none: [none.ok, none.status], refused: refused?.code };
            },
        }),
        tool({
            name: 'js-pages',
            description: 'What is not in the order: places, sizes, keys that stay down, frames.',
            input: { type: 'object', properties: { shop: { type: 'string' } }, required: ['shop'] } as const,
            async run({ shop }) {
                return browser.withPage(async (page) => {
                    await page.goto(`${shop}/verbs`);
                    const report = page.locator('#report');
                    await report.scrollIntoViewIfNeeded();
                    const box = await report.boundingBox();
                    const hidden = await page.locator('#seen-by-nobody').boundingBox();
                    await page.setViewportSize({ width: 600, height: 400 }, { deviceScaleFactor: 2 });
                    const size = await page.evaluate('[innerWidth, innerHeight, devicePixelRatio]', undefined, { repeatable: true });
                    await page.focus('#plain');
                    await page.keyboard.down('Shift');
                    await page.keyboard.press('a');
                    await page.keyboard.up('Shift');
                    const held = await page.inputValue('#plain');
                    await page.goto(`${shop}/pages/frames`);
                    const frame = page.childFrame(0).locator('html').first();
                    const title = await frame.waitForFunction((html, name) => html.querySelector(name)?.title, 'iframe');
                    return { box: box !== null && box.y > 0 && box.y < 720, hidden, size, held, title };
                });
            },
        }),
        tool({ name: 'js-nothing', description: 'Nothing.', run: () => undefined }),
    ],
});
