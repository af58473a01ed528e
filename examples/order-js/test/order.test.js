import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plugin, refuse } from 'windlass/testing';

const SHOP = 'https://shop.example';
const input = { item: 'mug', shop: SHOP, email: 'ada@example.com' };
const order = await plugin();

/** The shop: it counts orders. */
function shop({ price = '19.90 EUR', orders = 0 } = {}) {
    const counted = { orders };
    const item = {
        elements: {
            '#price': { text: () => price },
            '#name': {},
            '#email': {},
            'role=button[name="Order"]': {
                click(page) {
                    counted.orders += 1;
                    page.goto(`/done/${counted.orders}`);
                },
            },
        },
    };
    const search = { elements: { '#results a': { click: '/item/mug' } } };
    const pages = (url) =>
        ({
            [`${SHOP}/`]: { elements: { '#q': {}, 'role=button[name="Search"]': { click: '/search?q=mug' } } },
            [`${SHOP}/search?q=mug`]: search,
            [`${SHOP}/item/mug`]: item,
            [`${SHOP}/orders?email=ada@example.com`]: { elements: { '#newest': String(counted.orders) } },
            [`${SHOP}/done/${counted.orders}`]: { elements: { '#order': `A-${counted.orders}` } },
        })[url];
    return { pages, counted, raise: (to) => void (price = to), button: item.elements['role=button[name="Order"]'] };
}

test('orders what was approved, once', () => {
    const { pages, counted } = shop();
    const run = order.run('order-js', input, { pages, answers: { approve: { approve: true } } });
    assert.deepEqual(run.outcome.structured, { order: 'A-1', price: '19.90 EUR' });
    assert.equal(run.outcome.text, 'Ordered mug for 19.90 EUR: order A-1.');
    assert.equal(counted.orders, 1);
    assert.deepEqual(run.log, [{ level: 'info', text: 'Found mug for 19.90 EUR', fields: { url: `${SHOP}/item/mug` } }]);
    assert.equal(run.questions[0].peopleOnly, true);
    assert.deepEqual(run.artifacts.map(({ name }) => name), ['item.png', 'receipt.png']);
    assert.ok(run.actions.includes('fill #name Ada Lovelace'), 'the default of the schema');
});

test('orders nothing without a yes', () => {
    for (const answer of [{ approve: false }, 'declined', 'dismissed', 'expired']) {
        const { pages, counted } = shop();
        const run = order.run('order-js', input, { pages, answers: { approve: answer } });
        assert.equal(run.outcome.text, 'Not ordered: mug for 19.90 EUR was not approved.');
        assert.equal(counted.orders, 0);
    }
});

test('fails if the price has changed since it was approved', () => {
    const { pages, raise, counted } = shop();
    const approve = () => {
        raise('25.00 EUR');
        return { approve: true };
    };
    const run = order.run('order-js', input, { pages, answers: { approve } });
    assert.equal(run.failure.code, 'price-changed');
    assert.match(run.failure.message, /^mug costs 25\.00 EUR now; approved were 19\.90 EUR \(src\/index\.js:\d+:\d+\)/);
    assert.equal(counted.orders, 0);
});

test('presses the button once where nobody knows whether it was pressed', () => {
    const { pages, counted, button } = shop();
    button.click = () => {
        counted.orders += 1;
        refuse('interrupted')();
    };
    const run = order.run('order-js', input, { pages, answers: { approve: { approve: true } } });
    assert.equal(counted.orders, 1);
    assert.equal(run.outcome.structured.order, '1');
});
