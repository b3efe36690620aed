// Runs in the sandbox of a dev server, which has a network of its own. It accepts connections of the server outside on a
// socket that it was started with, and joins each one to the port that its first line names.
const net = require("node:net");
const outside = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
  let head = Buffer.alloc(0);
  const read = (piece) => {
    head = Buffer.concat([head, piece]);
    const end = head.indexOf(10);
    if (end < 0 && head.length < 16) return;
    client.off("data", read);
    client.pause();
    const target = net.connect({ port: Number(head.subarray(0, end)), host: "localhost", autoSelectFamily: true, allowHalfOpen: true });
    target.on("error", () => client.destroy());
    client.on("error", () => target.destroy());
    target.on("close", () => client.destroy());
    client.on("close", () => target.destroy());
    if (head.length > end + 1) target.write(head.subarray(end + 1));
    client.pipe(target);
    target.pipe(client);
  };
  client.on("error", () => client.destroy());
  client.on("data", read);
  client.resume();
});
outside.listen({ fd: Number(process.env.HEALD_SOCKET) });
