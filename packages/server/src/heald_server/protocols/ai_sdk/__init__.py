"""Vercel's AI SDK: the UI message stream of `useChat`."""
