"""What the signatures of public functions and classes name: callbacks, protocols, and the values of options."""

from heald.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from heald.agent.conversation import Conversation
    from heald.agent.exchange import Exchange
    from heald.agent.guardrail import GuardrailPoint, Refusal
    from heald.agent.instructions import Instructions
    from heald.agent.interface import ExchangeInterface, WhenBusy
    from heald.agent.model_chain import ModelLike
    from heald.agent.reactors import Reactor, Subscription
    from heald.agent.state import Status, ToolState
    from heald.agent.strategy import NextRequest, StrategyFactory, StreamTurn, Verdict
    from heald.agent.text_editing import EditFormat
    from heald.core.errors import ErrorCode
    from heald.core.events import ExchangeStatus, ForkedPart
    from heald.core.json import JsonObject
    from heald.core.messages import (
        CitedRange,
        ImageDetail,
        Native,
        ResultPart,
        Role,
        Source,
        ToolCall,
        ToolDefinition,
        ToolStatus,
        WholeResult,
    )
    from heald.core.payload import Layer
    from heald.core.turn import CacheTtl, CompactBy, Cost, ReasoningEffort, ServerToolName, StopReason, TokenLogprob
    from heald.core.type_parameters import TypeForm
    from heald.providers.cloud_auth import Signer
    from heald.providers.endpoint import Auth
    from heald.providers.local_servers import LocalServer
    from heald.providers.scripted import Fail, Script, ScriptDecoder, ScriptedCall, ScriptedRequest, Stop, Think
    from heald.sessions.acquired_log import AcquiredLog
    from heald.sessions.changes import FileComparison
    from heald.sessions.news import OnNews
    from heald.sessions.opening_session import OpeningSession
    from heald.sessions.recorder import OnStored
    from heald.sessions.resumption import AfterCrash
    from heald.sessions.shared_store import NodeInfo, PostedCommand, Spending
    from heald.sessions.store import EncodedEvents, OnAppended
    from heald.sessions.work import Work
    from heald.testing.server import ReplyFunction, Step
    from heald.tools.client_tools import ClientPrecedence, ClientToolLike
    from heald.tools.compact import ToolProfile
    from heald.tools.context import Channel
    from heald.tools.definitions import Access, CallPreview, Effect, Run
    from heald.tools.mcp.prompts import McpPrompt
    from heald.tools.mcp.servers import ToolChange
    from heald.tools.mcp.sign_in import SignIn
    from heald.tools.memory.fact import Evidence, Fact, FactScope, FactSubject
    from heald.tools.permissions import Decision, Mode, PermissionRule, Real
    from heald.tools.planned_call import PlannedCall
    from heald.tools.registry import ToolLike
    from heald.tools.runtime import Next
    from heald.tools.session_objects import SessionObjects
    from heald.tools.shell.sandbox import Launch
    from heald.tools.tool_output import Parts
    from heald.tools.type_schema import TypeSchema
    from heald.tools.validation import Validator
    from heald.tools.workspace.base import Change, FileEdit, Identity, Listing, OnChange
    from heald.wires.features import FeatureName
    from heald.wires.wire import KeyHeader

__all__ = [
    "Access",
    "AcquiredLog",
    "AfterCrash",
    "Auth",
    "CacheTtl",
    "CallPreview",
    "Change",
    "Channel",
    "CitedRange",
    "ClientPrecedence",
    "ClientToolLike",
    "CompactBy",
    "Conversation",
    "Cost",
    "Decision",
    "EditFormat",
    "Effect",
    "EncodedEvents",
    "ErrorCode",
    "Evidence",
    "Exchange",
    "ExchangeInterface",
    "ExchangeStatus",
    "Fact",
    "FactScope",
    "FactSubject",
    "Fail",
    "FeatureName",
    "FileComparison",
    "FileEdit",
    "ForkedPart",
    "GuardrailPoint",
    "Identity",
    "ImageDetail",
    "Instructions",
    "JsonObject",
    "KeyHeader",
    "Launch",
    "Layer",
    "Listing",
    "LocalServer",
    "McpPrompt",
    "Mode",
    "ModelLike",
    "Native",
    "Next",
    "NextRequest",
    "NodeInfo",
    "OnAppended",
    "OnChange",
    "OnNews",
    "OnStored",
    "OpeningSession",
    "Parts",
    "PermissionRule",
    "PlannedCall",
    "PostedCommand",
    "Reactor",
    "Real",
    "ReasoningEffort",
    "Refusal",
    "ReplyFunction",
    "ResultPart",
    "Role",
    "Run",
    "Script",
    "ScriptDecoder",
    "ScriptedCall",
    "ScriptedRequest",
    "ServerToolName",
    "SessionObjects",
    "SignIn",
    "Signer",
    "Source",
    "Spending",
    "Status",
    "Step",
    "Stop",
    "StopReason",
    "StrategyFactory",
    "StreamTurn",
    "Subscription",
    "Think",
    "TokenLogprob",
    "ToolCall",
    "ToolChange",
    "ToolDefinition",
    "ToolLike",
    "ToolProfile",
    "ToolState",
    "ToolStatus",
    "TypeForm",
    "TypeSchema",
    "Validator",
    "Verdict",
    "WhenBusy",
    "WholeResult",
    "Work",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "heald.agent.conversation": "Conversation",
        "heald.agent.exchange": "Exchange",
        "heald.agent.guardrail": "GuardrailPoint Refusal",
        "heald.agent.instructions": "Instructions",
        "heald.agent.interface": "ExchangeInterface WhenBusy",
        "heald.agent.model_chain": "ModelLike",
        "heald.agent.reactors": "Reactor Subscription",
        "heald.agent.state": "Status ToolState",
        "heald.agent.strategy": "NextRequest StrategyFactory StreamTurn Verdict",
        "heald.agent.text_editing": "EditFormat",
        "heald.core.errors": "ErrorCode",
        "heald.core.events": "ExchangeStatus ForkedPart",
        "heald.core.json": "JsonObject",
        "heald.core.messages": (
            "CitedRange ImageDetail Native ResultPart Role Source ToolCall ToolDefinition ToolStatus WholeResult"
        ),
        "heald.core.payload": "Layer",
        "heald.core.turn": "CacheTtl CompactBy Cost ReasoningEffort ServerToolName StopReason TokenLogprob",
        "heald.core.type_parameters": "TypeForm",
        "heald.providers.cloud_auth": "Signer",
        "heald.providers.endpoint": "Auth",
        "heald.providers.local_servers": "LocalServer",
        "heald.providers.scripted": "Fail Script ScriptDecoder ScriptedCall ScriptedRequest Stop Think",
        "heald.sessions.acquired_log": "AcquiredLog",
        "heald.sessions.changes": "FileComparison",
        "heald.sessions.news": "OnNews",
        "heald.sessions.opening_session": "OpeningSession",
        "heald.sessions.recorder": "OnStored",
        "heald.sessions.resumption": "AfterCrash",
        "heald.sessions.shared_store": "NodeInfo PostedCommand Spending",
        "heald.sessions.store": "EncodedEvents OnAppended",
        "heald.sessions.work": "Work",
        "heald.testing.server": "ReplyFunction Step",
        "heald.tools.client_tools": "ClientPrecedence ClientToolLike",
        "heald.tools.compact": "ToolProfile",
        "heald.tools.context": "Channel",
        "heald.tools.definitions": "Access CallPreview Effect Run",
        "heald.tools.mcp.prompts": "McpPrompt",
        "heald.tools.mcp.servers": "ToolChange",
        "heald.tools.mcp.sign_in": "SignIn",
        "heald.tools.memory.fact": "Evidence Fact FactScope FactSubject",
        "heald.tools.permissions": "Decision Mode PermissionRule Real",
        "heald.tools.planned_call": "PlannedCall",
        "heald.tools.registry": "ToolLike",
        "heald.tools.runtime": "Next",
        "heald.tools.session_objects": "SessionObjects",
        "heald.tools.shell.sandbox": "Launch",
        "heald.tools.tool_output": "Parts",
        "heald.tools.type_schema": "TypeSchema",
        "heald.tools.validation": "Validator",
        "heald.tools.workspace.base": "Change FileEdit Identity Listing OnChange",
        "heald.wires.features": "FeatureName",
        "heald.wires.wire": "KeyHeader",
    },
)
