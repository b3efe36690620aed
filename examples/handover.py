"""A conversation that is handed over to another agent, which has instructions, tools and a model of its own."""

import asyncio

import heald

S = heald.testing.ScriptedModel


@heald.tool(effect="write")
async def refund(order: str) -> str:
    """Refund an order."""
    return f"Order {order} was refunded."


async def main() -> None:
    billing = heald.Agent(
        S([[S.call("refund", order="7")], "Your money is on its way."]),
        name="billing",
        description="Refunds and invoices.",
        instructions="You handle money. Refund what was paid.",
        tools=[refund],
        handoffs=["triage"],  # it can hand the conversation back
    )
    triage = heald.Agent(
        S([[S.call("hand_over", agent="billing", reason="It is about money.")]]),
        name="triage",
        instructions="You route requests to the right agent.",
        handoffs=[billing],
    )
    async for event in triage.stream("I want my money for order 7 back."):
        if event.type == "agent_changed":
            print(f"{event.data.previous} hands over to {event.data.agent}: {event.data.reason}")
        elif event.type == "assistant_message" and event.data.message.text:
            print(f"{triage.speaker}: {event.data.message.text}")


asyncio.run(main())
