//! `tool/result`, one type for both shapes the harness lines write.

use super::block::{Block, Source};
use super::{Text, count};
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

/// The data of a `tool/result`, the same for both shapes.
#[derive(Debug, Clone)]
pub struct ToolResult<'a> {
    /// The turn's number, 0 when not stated.
    pub turn: u32,
    /// The step's number in the turn, 0 when not stated.
    pub step: u32,
    /// The call it answers. The tool's name is only on the call.
    pub call_id: Text<'a>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// The tool's output.
    pub content: Vec<Block<'a>>,
    /// Whether the output stood in a result block of its own, as the older shape has it.
    pub wrapped: bool,
    /// Who produced it.
    pub source: Source<'a>,
    /// The failure's stable code, where the harness knew one.
    pub error_code: Option<Text<'a>>,
    /// The tool's private presentation data, unread.
    pub meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultData<'a> {
    #[serde(default, deserialize_with = "count")]
    turn: u32,
    #[serde(default, deserialize_with = "count")]
    step: u32,
    #[serde(borrow, default)]
    call_id: Option<Text<'a>>,
    #[serde(borrow)]
    message: ResultMessage<'a>,
    #[serde(borrow, default)]
    error: Option<ErrorData<'a>>,
    #[serde(borrow, default)]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultMessage<'a> {
    #[serde(borrow, default, alias = "callId")]
    tool_call_id: Option<Text<'a>>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
    #[serde(borrow, default)]
    source: Source<'a>,
}

#[derive(Deserialize)]
struct ErrorData<'a> {
    #[serde(borrow, default)]
    code: Option<Text<'a>>,
}

impl<'a> ToolResult<'a> {
    pub(super) fn read(json: &'a str) -> serde_json::Result<Self> {
        let ResultData { turn, step, call_id, message, error, meta } = serde_json::from_str(json)?;
        let ResultMessage { tool_call_id, is_error, mut content, source } = message;
        let mut call_id = tool_call_id.or(call_id);
        let mut is_error = is_error;
        let mut wrapped = false;
        if let [Block::ToolResult { .. }] = content.as_slice()
            && let Some(Block::ToolResult { call_id: inner_id, is_error: failed, content: inner }) =
                content.pop()
        {
            content = inner;
            wrapped = true;
            call_id = Some(inner_id);
            is_error = Some(failed);
        }
        let call_id = call_id
            .or_else(|| source.field("callId"))
            .ok_or_else(|| serde_json::Error::custom("no call id in the result block, message or source"))?;
        let error_code = error.and_then(|error| error.code);
        Ok(Self {
            turn,
            step,
            call_id,
            is_error: is_error.unwrap_or(false),
            content,
            wrapped,
            source,
            error_code,
            meta,
        })
    }
}
