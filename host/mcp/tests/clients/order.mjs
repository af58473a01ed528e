// The whole order of examples/order with @modelcontextprotocol/client 2.4, which takes no tasks: it goes on with the
// helper tools, and a person answers on the host's page. `cargo xtask clients` runs it.
//
//     node order.mjs SHOP URL
//     node order.mjs SHOP windlass mcp
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [shop, ...server] = process.argv.slice(2);
const transport = server.length === 1
  ? new StreamableHTTPClientTransport(new URL(server[0]))
  : new StdioClientTransport({ command: server[0], args: server.slice(1) });
const client = new Client({ name: "order", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(transport);
console.log("protocol", client.getNegotiatedProtocolVersion?.() ?? "?");
// Their output schemas are checked by the client from here on.
await client.listTools();
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(result.content[0].text);
  return result.structuredContent;
};
const { windlassTask: handle } = await call("order", { item: "mug", shop });
console.log("task", handle.taskId, "-", handle.statusMessage);
let task = await call("task_get", { taskId: handle.taskId });
// The person may have been quicker.
const asked = task.status === "input_required" ? 1 : 0;
if (task.questions.length !== 0 || task.peopleOnlyQuestions !== asked) throw new Error(JSON.stringify(task));
console.log("asks a person");
while (task.open) task = await call("task_get", { taskId: handle.taskId, waitMs: 30000 });
for (let after = 0, more = true; more; ) {
  const page = await call("task_log", { taskId: handle.taskId, after });
  for (const record of page.records) {
    if (record.seq !== after + 1) throw new Error(JSON.stringify(record));
    after = record.seq;
    console.log(`  ${String(after).padStart(2)} ${record.text}`);
  }
  more = page.hasMore;
}
console.log("result:", task.outcome.content[0].text, JSON.stringify(task.outcome.structured));
await client.close();
