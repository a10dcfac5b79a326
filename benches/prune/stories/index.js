/**
 * The synthetic set: long sessions with large results, each a story that a person can read (`--print NAME`).
 */
import { lostRows, scheduler } from './export.js';
import { cache, parser } from './parser.js';
import { incident, client } from './service.js';
import { review, slow, tour } from './review.js';
import { tell } from './story.js';
import { release, rename } from './upkeep.js';

const STORIES = [lostRows, scheduler, parser, cache, incident, client, slow, review, tour, rename, release];

/** @returns the sessions as `{ name, rows() }`. */
export function stories() {
  return STORIES.map((story) => ({ name: story.name, rows: () => tell(story) }));
}
