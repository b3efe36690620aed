export { Agent, connect, type AgentOptions, type ClientTool } from "./agent.js";
export { AgentXError, WebSocketDriver, type DriverOptions } from "./driver.js";
export * from "./events.js";
export { defineReactor, EventBus, type Reactor } from "./reactor.js";
