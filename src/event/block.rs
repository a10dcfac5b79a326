//! Content blocks and message sources.

use super::text::Text;
use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::value::RawValue;

/// One content block of a message.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Block<'a> {
    /// Visible text.
    Text(Text<'a>),
    /// The model's reasoning.
    Reasoning(Text<'a>),
    /// An image; its bytes are elsewhere.
    Image(Image<'a>),
    /// A tool call.
    ToolCall {
        /// The call's id, which may repeat in a session.
        id: Text<'a>,
        /// The tool's name.
        name: Text<'a>,
        /// The arguments as the model wrote them; `null` reads as empty.
        arguments: Text<'a>,
    },
    /// A tool result block, as the older `tool/result` shape nests it.
    ToolResult {
        /// The call it answers.
        call_id: Text<'a>,
        /// Whether the tool failed.
        is_error: bool,
        /// The tool's output.
        content: Vec<Block<'a>>,
    },
    /// A block of a type not known here.
    Other(&'a RawValue),
}

/// What is known of an image without its bytes.
#[derive(Debug, Clone)]
pub struct Image<'a> {
    /// File name, where known.
    pub name: Option<Text<'a>>,
    /// Media type, for instance `image/png`.
    pub media_type: Option<Text<'a>>,
    /// The whole block as it stands in the log, which is what the harness's meter prices.
    pub json: &'a RawValue,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attachment<'a> {
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
    #[serde(borrow, default)]
    media_type: Option<Text<'a>>,
}

impl Block<'_> {
    /// Model-visible text in UTF-16 code units: text, reasoning, arguments, tool output; images and unknown
    /// blocks count 0 (docs/rewind.md 1.9).
    #[must_use]
    pub fn chars(&self) -> usize {
        match self {
            Self::Text(text) | Self::Reasoning(text) => text.utf16_len(),
            Self::ToolCall { arguments, .. } => arguments.utf16_len(),
            Self::ToolResult { content, .. } => content.iter().map(Block::chars).sum(),
            Self::Image(_) | Self::Other(_) => 0,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Flat<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, default, deserialize_with = "nullable")]
    text: Text<'a>,
    #[serde(borrow, default, deserialize_with = "nullable")]
    id: Text<'a>,
    #[serde(borrow, default, deserialize_with = "nullable")]
    name: Text<'a>,
    #[serde(borrow, default, deserialize_with = "nullable")]
    arguments: Text<'a>,
    #[serde(borrow, default, deserialize_with = "nullable")]
    tool_call_id: Text<'a>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(borrow, default)]
    content: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    attachment: Option<Attachment<'a>>,
}

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Block<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        read(raw, 0).map_err(serde::de::Error::custom)
    }
}

/// Results inside results deeper than this are read as foreign blocks: a hostile log must not end the stack.
const DEEPEST: usize = 4;

fn read(raw: &RawValue, depth: usize) -> serde_json::Result<Block<'_>> {
    // The tag alone is read first: a foreign block may use our field names for other types of value.
    let kind = tag(raw)?;
    if !matches!(kind.as_str(), "text" | "reasoning" | "image" | "tool-call" | "tool-result")
        || depth > DEEPEST
    {
        return Ok(Block::Other(raw));
    }
    let flat: Flat<'_> = serde_json::from_str(raw.get())?;
    Ok(match flat.kind.as_str() {
        "text" => Block::Text(flat.text),
        "reasoning" => Block::Reasoning(flat.text),
        "image" => {
            let Attachment { name, media_type } = flat.attachment.unwrap_or_default();
            Block::Image(Image { name, media_type, json: raw })
        }
        "tool-call" => Block::ToolCall { id: flat.id, name: flat.name, arguments: flat.arguments },
        _ => Block::ToolResult {
            call_id: flat.tool_call_id,
            is_error: flat.is_error.unwrap_or(false),
            content: flat.content.into_iter().map(|raw| read(raw, depth + 1)).collect::<Result<_, _>>()?,
        },
    })
}

/// The type of a block. Where it comes first, as harnesses write it, a long block is not read through for it.
fn tag(raw: &RawValue) -> serde_json::Result<Text<'_>> {
    let first = raw.get().strip_prefix(r#"{"type":""#).and_then(|rest| rest.split_once('"'));
    match first {
        Some((kind, _)) if !kind.contains('\\') => Ok(Text::from(kind)),
        _ => serde_json::from_str::<Tag<'_>>(raw.get()).map(|tag| tag.kind),
    }
}

/// Text that an importer may have written as `null`.
pub(super) fn nullable<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Text<'a>, D::Error> {
    Ok(Option::<Text<'a>>::deserialize(deserializer)?.unwrap_or_default())
}

/// Who produced a message. The fields beyond `kind` and `plugin` belong to the producer: a room reads the
/// ones it wrote with [`Source::field`].
#[derive(Debug, Clone, Default)]
pub struct Source<'a> {
    /// `user`, `plugin`, `model`, `tool`, or a kind not known here; empty when there is no source.
    pub kind: Text<'a>,
    /// The plugin's name, for kind `plugin`.
    pub plugin: Option<Text<'a>>,
    raw: Option<&'a RawValue>,
}

impl<'a> Source<'a> {
    /// Whether a person wrote it (docs/rewind.md 1.6).
    #[must_use]
    pub fn is_person(&self) -> bool {
        self.kind == "user"
    }

    /// Whether the named plugin produced it.
    #[must_use]
    pub fn is_plugin(&self, plugin: &str) -> bool {
        self.kind == "plugin" && self.plugin.as_deref() == Some(plugin)
    }

    /// One field of the producer's own, or `None` when it is absent or of another type.
    #[must_use]
    pub fn field<T: Deserialize<'a>>(&self, name: &str) -> Option<T> {
        let fields: std::collections::BTreeMap<Text<'a>, &'a RawValue> = self.read()?;
        serde_json::from_str(fields.get(&Text::from(name))?.get()).ok()
    }

    /// All of the source as a type of the room's own, or `None` when it does not fit.
    #[must_use]
    pub fn read<T: Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_str(self.raw?.get()).ok()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Source<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Known<'a> {
            #[serde(borrow, default, deserialize_with = "nullable")]
            kind: Text<'a>,
            #[serde(borrow, default)]
            plugin: Option<Text<'a>>,
        }
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        let Known { kind, plugin } = serde_json::from_str(raw.get()).map_err(serde::de::Error::custom)?;
        Ok(Self { kind, plugin, raw: Some(raw) })
    }
}
