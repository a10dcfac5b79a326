/** Messages and quotes built from session events: the texts that never cross into the core. */
import { createUserMessage, freezeMessage } from '@deepseek-ai/dsh-llm';
import { contentOf } from '../host/events.js';

/** @returns the one-line note that stands for an image where the image itself cannot go. */
function imageNote(block) {
  const { name, mediaType, mimeType } = block.attachment ?? {};
  return `[image: ${name ?? 'unnamed'}, ${mediaType ?? mimeType ?? 'unknown type'}]`.replace(/\s+/g, ' ');
}

/** @returns the words of an event, with a note for each image and the block's type for anything else. */
function wordsOf(blocks) {
  return blocks.map((block) => {
    if (block.type === 'text' || block.type === 'reasoning') return block.text;
    if (block.type === 'image') return imageNote(block);
    if (block.type === 'tool-call') return `[tool call ${block.name}] ${block.arguments}`;
    return `[${block.type}]`;
  }).filter((text) => text !== '').join('\n');
}

/** @returns a person's words as a quote keeps them: word for word. */
export function personsWords(event) {
  return wordsOf(contentOf(event));
}

/** @returns words prefixed line by line, so that nothing in them can end the quotation. */
export function quoted(words) {
  return words.split('\n').map((line) => `> ${line}`).join('\n');
}

const SPEAKERS = { 'user/message': 'message', 'assistant/message': 'assistant', 'tool/result': 'tool result' };

/** @returns events as one quoted text, for where they would not be accepted as messages. */
export function transcript(events) {
  return events.map((event) => `${SPEAKERS[event.type]}, seq ${event.seq}:\n${quoted(wordsOf(contentOf(event)))}`)
    .join('\n\n');
}

/** @returns a message whose images are one-line notes (docs/rewind.md 2.5). */
export function withoutImages(message) {
  const { id: _id, ...rest } = message;
  const replace = (blocks) => blocks.map((block) => {
    if (block.type === 'image') return { type: 'text', text: imageNote(block) };
    return block.type === 'tool-result' ? { ...block, content: replace(block.content) } : block;
  });
  const hasImage = (blocks) => blocks.some((block) => block.type === 'image' || hasImage(block.content ?? []));
  if (!hasImage(message.content)) return message;
  return freezeMessage({ ...rest, id: message.id, content: replace(message.content) });
}

/** @returns the instruction as the request's last message. */
export function instructionMessage(text) {
  return createUserMessage({
    content: [{ type: 'text', text }],
    source: { kind: 'plugin', plugin: 'rewind-instruction' },
  });
}
