"""langgraph: a graph of a model and its tools, streamed message by message over Chat Completions."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportMissingTypeStubs=false
# The library is only partly typed.

from collections.abc import Sequence
from functools import cache
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import SecretStr

from benchmarks.earlier_exchanges import EarlierExchange
from benchmarks.row import API_KEY, Ask, Row, Seen
from benchmarks.scenarios import PROMPT, Wire
from benchmarks.tools import add, create_file

_MAX_STEPS = 1000


@cache
def _graph(base_url: str, model: str) -> Any:
    tools = [tool(add), tool(create_file)]
    chat = ChatOpenAI(
        model=model, base_url=f"{base_url}/v1", api_key=SecretStr(API_KEY), max_retries=0, stream_usage=True
    ).bind_tools(tools)

    async def call_model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await chat.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def remember(_wire: Wire, past: Sequence[EarlierExchange]) -> list[AnyMessage]:
    messages: list[AnyMessage] = []
    for exchange in past:
        call = ToolCall(name="add", args=exchange.arguments, id=exchange.call_id)
        messages += (
            HumanMessage(exchange.question),
            AIMessage("", tool_calls=[call]),
            ToolMessage(exchange.result, tool_call_id=exchange.call_id, name="add"),
            AIMessage(exchange.answer),
        )
    return messages


async def converse(ask: Ask) -> Seen:
    deltas = 0
    text = ask.pieces()
    question = {"messages": [*ask.past, HumanMessage(PROMPT)]}
    stream = _graph(ask.base_url, ask.model).astream(question, {"recursion_limit": _MAX_STEPS}, stream_mode="messages")
    async for chunk, _ in stream:
        if not isinstance(chunk, AIMessageChunk):
            continue
        if chunk.content:
            deltas += 1
            text.append(str(chunk.content))
        deltas += len(chunk.tool_call_chunks)
    return Seen("".join(text), deltas)


ROW = Row("langgraph", "import langgraph.graph, langchain_openai", ("chat",), converse, remember)
