import { operationOf } from '../api/operations.ts';
import { DEFAULT_ROWS, LIMIT } from '../api/options.ts';
import { optionName, optionOf } from '../api/values.ts';
import { type ClientCommand, type Context, type Option, textIn, type Values } from '../command.ts';
import { following, presentCursor, type Told } from '../events/following.ts';
import { valueAt } from '../terminal/output.ts';

const FILTERS = ['type', 'project_id', 'subject'];
const COUNT: Option = optionOf({ name: 'count', type: 'integer', text: 'End after so many' });

/** Made when they are needed: the options come from the OpenAPI document. */
function filters(): Option[] {
  const { query } = operationOf('listEvents');
  return query.filter(({ name }) => [...FILTERS, 'cursor'].includes(name)).map(optionOf);
}

const filterIn = (values: Values): Values =>
  Object.fromEntries(FILTERS.map((name) => [name, values[optionName(name)]]));

export const events: readonly ClientCommand[] = [
  {
    name: 'event list',
    summary: 'List what has happened',
    help: 'The oldest first, from the last 24 hours or from --cursor on.',
    arguments: [],
    get options() {
      return [...filters(), LIMIT];
    },
    run: list,
  },
  {
    name: 'event follow',
    summary: 'Show what happens, as it happens',
    help: 'A line for each event, from now or from --cursor on. It goes on after the last event when the connection is lost, and says at the end how to continue. --cursor oldest begins 24 hours ago.',
    arguments: [],
    get options() {
      return [...filters(), COUNT];
    },
    run: follow,
  },
];

async function list({ api, values, output }: Context): Promise<void> {
  const most = Number(values.limit ?? DEFAULT_ROWS);
  const rows: unknown[] = [];
  let cursor = textIn(values, 'cursor') ?? 'oldest';
  for (;;) {
    const limit = Math.min(1_000, most - rows.length);
    const parameters = { ...filterIn(values), cursor, limit };
    const answer = (await api.call('listEvents', { parameters })) as { cursor: string; events: unknown[] };
    rows.push(...answer.events);
    if (answer.events.length < limit || rows.length >= most) {
      cursor = answer.cursor;
      break;
    }
    cursor = answer.cursor;
  }
  output.rows(rows, { TIME: 'time', TYPE: 'type', SUBJECT: 'subject', OPERATION: 'data.operation' });
  output.note(`"tradewind event follow --cursor ${cursor}" continues from here.`);
}

async function follow({ api, values, output, terminal }: Context): Promise<void> {
  const { stop } = terminal;
  let cursor = textIn(values, 'cursor') ?? (await presentCursor(api));
  let left = Number(values.count ?? Number.POSITIVE_INFINITY);
  const lost = (why: string) => output.note(`${why}; trying again`);
  try {
    for await (const told of following(api, { filter: filterIn(values), from: cursor, lost, stop })) {
      cursor = told.cursor;
      if (told.type === 'reset') {
        output.note('Some events are no longer kept: read anew what you need to know.');
        continue;
      }
      output.line(told.event, lineOf(told));
      left -= 1;
      if (left <= 0) break;
    }
  } catch (error) {
    // Ctrl-C is how it normally ends.
    if (!stop.aborted) throw error;
  }
  output.note(`"tradewind event follow --cursor ${cursor}" continues from here.`);
}

function lineOf({ event }: Told): string {
  const doing = valueAt(event, 'data.doing') ?? valueAt(event, 'data.error') ?? valueAt(event, 'data.state');
  const name = valueAt(event, 'data.resources.0.name');
  const more = [name, doing].filter((each) => each !== undefined && each !== null);
  return [event.time, event.type, event.subject, ...more].join('  ');
}
