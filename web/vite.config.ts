import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = process.env["HEALD_SERVER"] ?? "http://127.0.0.1:8765";

export default defineConfig({
  plugins: [react()],
  base: "./",
  resolve: {
    alias: {
      "@heald/client": fileURLToPath(new URL("../clients/typescript/src/index.ts", import.meta.url)),
      "use-sync-external-store/shim": "react", // swr also supports versions of React without the hook
    },
  },
  build: {
    target: "es2022",
    outDir: "dist",
    assetsDir: "assets",
    assetsInlineLimit: 0,
    sourcemap: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700, // the editor is one part of 620 kB, which is loaded when code is first looked at
  },
  server: {
    proxy: {
      "^/(sessions|projects|studio|models|providers|tools|workspaces|login|logout|health|preview|libraries)": server,
      "/ws": { target: server, ws: true },
    },
  },
  test: {
    include: ["tests/**/*.test.{ts,tsx}"],
    environment: "node",
    testTimeout: 120_000,
    isolate: false, // one process for all files: that of its own for each is two thirds of the processor time
    pool: "threads",
    maxWorkers: 1,
    setupFiles: ["tests/fresh_modules.ts"],
  },
});
