// A dev server as small as one can be: a page that is read anew, the facts of its surroundings, and an upgrade that echoes.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import os from "node:os";

const server = createServer((request, answer) => {
  if (request.url === "/facts") {
    const { host, origin, cookie } = request.headers;
    const outside = process.env.npm_package_config_outside ?? "";
    answer.setHeader("Content-Type", "application/json");
    answer.end(JSON.stringify({ host, origin, cookie, env: process.env, outside: outside !== "" && existsSync(outside), home: existsSync("/root/.ssh"), interfaces: os.networkInterfaces() }));
  } else if (request.url === "/away") {
    answer.writeHead(302, { Location: "http://localhost:5199/there", "Set-Cookie": "a=1; Domain=localhost; Path=/", "X-Frame-Options": "DENY" });
    answer.end();
  } else if (request.url === "/outside") {
    fetch("https://example.org/").then((reply) => answer.end(String(reply.status)), (fault) => answer.end(`refused ${fault.message}`));
  } else {
    answer.setHeader("Content-Type", "text/html");
    answer.write("<!doctype html><html><body>");
    setTimeout(() => answer.end(`<h1>${readFileSync("title.txt", "utf8").trim()}</h1></body></html>`), 20);
  }
});
server.on("upgrade", (request, socket) => {
  socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  socket.on("data", (data) => socket.write(Buffer.from(data.toString().toUpperCase())));
});
server.listen(5199, "127.0.0.1", () => console.log("ready at http://localhost:5199/app/\n"));
