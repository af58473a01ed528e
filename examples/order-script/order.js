/**
 * Orders one item from the shop, after asking.
 *
 * @tool order-script
 * @title Order by a script
 * @permission browser *
 * @input {string} item What to search for.
 * @input {string} shop Address of the shop.
 * @input {string} [name=Ada Lovelace] Who orders.
 * @input {string:email} [email=ada@example.com] Where the receipt goes.
 * @hint destructive
 * @hint openWorld
 */
const { item, shop, name, email } = input;

// The price is asked for by the page, so it comes late.
async function priceOf(page) {
    await page.locator('#price').waitFor();
    return page.innerText('#price');
}

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

const approval = await ask({
    key: 'approve',
    message: `Order ${item} for ${price}?`,
    schema: {
        type: 'object',
        properties: { approve: { type: 'boolean', description: 'Order it?' } },
        required: ['approve'],
        additionalProperties: false,
    },
    peopleOnly: true,
});
if (!approval.accepted || !approval.value.approve) {
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
