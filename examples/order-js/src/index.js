// Orders one item from a shop. Between looking and buying it asks a person, which may take days: so it looks with one page,
// asks without any, and buys with another.
import { ask, browser, fail, log, outcome, plugin, state, status, tool } from 'windlass';

const input = {
    type: 'object',
    properties: {
        item: { type: 'string', description: 'What to search for.' },
        shop: { type: 'string', description: 'Address of the shop.' },
        name: { type: 'string', description: 'Who orders.', default: 'Ada Lovelace' },
        email: { type: 'string', description: 'Where the receipt goes.', format: 'email', default: 'ada@example.com' },
    },
    required: ['item', 'shop'],
    additionalProperties: false,
};

const receipt = {
    type: 'object',
    properties: {
        order: { type: ['string', 'null'], description: "The shop's number of the order; none if nobody approved it." },
        price: { type: 'string' },
    },
    required: ['order', 'price'],
};

const approval = {
    type: 'object',
    properties: { approve: { type: 'boolean', description: 'Order it?' } },
    required: ['approve'],
    additionalProperties: false,
};

/** The price is asked for by the page, so it comes late. */
async function priceOf(page) {
    await page.locator('#price').waitFor();
    return page.innerText('#price');
}

async function run({ item, shop, name, email }) {
    status(`Looking for ${item}`);
    const { url, price } = await browser.withPage(async (page) => {
        await page.goto(shop);
        await page.fill('#q', item);
        await page.getByRole('button', { name: 'Search' }).click();
        await page.click('#results a');
        const price = await priceOf(page);
        await page.screenshot({ name: 'item.png' });
        return { url: await page.url(), price };
    }, { repeatable: true });
    log.info(`Found ${item} for ${price}`, { url });
    await state.set('price', price);

    const message = `Order ${item} for ${price}?`;
    const answer = await ask({ key: 'approve', message, schema: approval, peopleOnly: true });
    if (!answer.accepted || !answer.value.approve) {
        return outcome({ order: null, price }, { text: `Not ordered: ${item} for ${price} was not approved.` });
    }

    status(`Ordering ${item}`);
    let before;
    const order = await browser.withPage(async (page) => {
        // In a second round the button may have been pressed before the page was lost: the shop knows.
        await page.goto(`${shop.replace(/\/$/, '')}/orders?email=${email}`);
        const newest = await page.innerText('#newest');
        before ??= newest;
        if (before !== newest) return newest;
        await page.goto(url);
        const now = await priceOf(page);
        if (now !== price) fail('price-changed', `${item} costs ${now} now; approved were ${price}`);
        await page.fill('#name', name);
        await page.fill('#email', email);
        await page.getByRole('button', { name: 'Order' }).click();
        await page.locator('#order').waitFor();
        await page.screenshot({ name: 'receipt.png' });
        return page.innerText('#order');
    }, { repeatable: true });
    return outcome({ order, price }, { text: `Ordered ${item} for ${price}: order ${order}.` });
}

export default plugin({
    description: 'Orders from a web shop, after asking.',
    permissions: ['browser *'],
    tools: [
        tool({
            name: 'order-js',
            description: 'Orders one item from the shop, after asking.',
            input,
            output: receipt,
            destructive: true,
            openWorld: true,
            run,
        }),
    ],
});
