import { type Static, type TSchema, Type } from 'typebox';
import { MAX_URL } from '../../lib/file-url.ts';
import * as wire from '../../lib/wire.ts';
import { ORDERINGS } from './page.ts';
import { STATUSES } from './states.ts';

export const MAX_PAGE_SIZE = 1000;
const MAX_ENTITY_DATA = 4096;
const MAX_USER_ID = 256;

const EXAMPLE_ID = '0b7e1b2c-9f0d-4c1e-8d5a-3f2b1a0c9d8e';
export const EXAMPLE_URL = 'https://example.com/video.mp4';
const TASK_NAMES = ['transcription', 'content-moderation'] as const;
const CATEGORIES = ['nsfw', 'hard_nudity', 'soft_nudity', 'sport'] as const;

const Status = (description: string) => wire.Choice(STATUSES, { description, examples: ['PENDING'] });
const TaskName = (description: string) => wire.Choice(TASK_NAMES, { description, examples: ['transcription'] });
const Language = (description: string) =>
  wire.TextOrNull({ minLength: 1, maxLength: 3, description, examples: ['ger'] });

const sharedInput = {
  url: Type.String({
    minLength: 1,
    maxLength: MAX_URL,
    description: 'The media file, reachable by HTTP or HTTPS: MP4, for moderation JPEG and PNG too.',
    examples: [EXAMPLE_URL],
  }),
  client_user_id: wire.OptionalTextOrNull({
    maxLength: MAX_USER_ID,
    description: 'For your own use; stored unchanged.',
    examples: ['u-42'],
  }),
  client_entity_data: wire.OptionalTextOrNull({
    maxLength: MAX_ENTITY_DATA,
    description: 'For your own use; stored unchanged.',
    examples: ['{"lesson": 7}'],
  }),
  client_id: wire.OptionalIntegerOrNull({
    readOnly: true,
    description: 'Set by the service; a value sent is ignored, so that the data of a task can be sent again.',
    examples: [1],
  }),
};

const TranscriptionInput = wire.Input('CreateTranscription', {
  task_name: Type.Literal('transcription'),
  audio_language: Type.Optional(Language('Spoken language, as an ISO 639-2 code; null: to be detected.')),
  subtitles_language: Type.Optional(
    Language('Language of the subtitles; null: the spoken language. Another language makes it a translation.'),
  ),
  ...sharedInput,
});

function moderationInput(category: (typeof CATEGORIES)[number], title: string, more: Record<string, TSchema> = {}) {
  return Type.Object(
    {
      task_name: Type.Literal('content-moderation'),
      category: Type.Literal(category),
      ...more,
      ...sharedInput,
    },
    { title, additionalProperties: false },
  );
}

const stopObjects = {
  stop_objects: wire.OptionalTextOrNull({
    minLength: 1,
    maxLength: 1024,
    description:
      'The analysis ends at the first of these objects: `OBJECT` or `OBJECT:probability`, several separated by commas.',
    examples: ['ANUS_EXPOSED,MALE_GENITALIA_EXPOSED:0.50'],
  }),
};

export interface CreateAiTask {
  task_name: (typeof TASK_NAMES)[number];
  url: string;
  category?: (typeof CATEGORIES)[number];
  audio_language?: string | null;
  subtitles_language?: string | null;
  stop_objects?: string | null;
  client_user_id?: string | null;
  client_entity_data?: string | null;
  client_id?: number | null;
}

export const createAiTaskSchema = Type.Unsafe<CreateAiTask>({
  title: 'CreateAiTask',
  description: 'What to do with which media file.',
  type: 'object',
  required: ['task_name', 'url'],
  // Listed here as well, so that the error for an unknown value names the known ones.
  properties: { task_name: { type: 'string', enum: TASK_NAMES } },
  discriminator: { propertyName: 'task_name' },
  oneOf: [
    TranscriptionInput,
    {
      title: 'CreateModeration',
      type: 'object',
      required: ['task_name', 'category'],
      properties: {
        task_name: { const: 'content-moderation', type: 'string' },
        category: { type: 'string', enum: CATEGORIES },
      },
      discriminator: { propertyName: 'category' },
      oneOf: [
        moderationInput('nsfw', 'CreateNsfwModeration'),
        moderationInput('hard_nudity', 'CreateHardNudityModeration', stopObjects),
        moderationInput('soft_nudity', 'CreateSoftNudityModeration', stopObjects),
        moderationInput('sport', 'CreateSportModeration'),
      ],
    },
  ],
  examples: [
    { task_name: 'transcription', url: EXAMPLE_URL, audio_language: 'ger', subtitles_language: 'eng' },
    { task_name: 'content-moderation', category: 'nsfw', url: EXAMPLE_URL },
  ],
});

export const createdAiTaskSchema = wire.Named('CreatedAiTask', {
  task_id: Type.String({ format: 'uuid', examples: [EXAMPLE_ID] }),
});

export const subtitlesResponse = {
  description: 'A WebVTT file',
  content: {
    'text/vtt': {
      schema: Type.String({ examples: ['WEBVTT\n\n00:00:00.400 --> 00:00:02.100\nHello world\n'] }),
    },
  },
};

export const mediaResponse = {
  description: 'The file, with the type that its source gives if that is a sound or film',
  content: { 'application/octet-stream': { schema: Type.String({ format: 'binary' }) } },
};

export const MediaHeaders = Type.Object({
  range: wire.OptionalText({ description: 'One part of the file', examples: ['bytes=0-1023'] }),
});

export const aiTaskKindsSchema = Type.Array(
  wire.Named('AiTaskKind', {
    task_name: TaskName('What is done'),
    category: wire.OptionalChoice(CATEGORIES, { examples: ['nsfw'] }),
    needs: wire.TextOrNull({
      description: 'What has to be installed before an engine can do it; null if one can now',
      examples: ['ffmpeg and the packages of the engines (npx tradewind engines install)'],
    }),
    languages: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'What can be spoken and shown, as ISO 639-2 codes. Which of them an engine here knows, `GET /streaming/ai/info` tells',
        examples: [['eng', 'ger']],
      }),
    ),
  }),
);

export const cancelledAiTaskSchema = wire.Named('CancelledAiTask', {
  result: Type.String({ description: 'For people', examples: ['The task is cancelled.'] }),
});

const taskDataSchema = Type.Object(
  {
    task_name: TaskName('What is done'),
    client_id: wire.IntegerId('Account'),
    url: Type.String({ examples: [EXAMPLE_URL] }),
    category: wire.OptionalChoice(CATEGORIES, { examples: ['nsfw'] }),
    audio_language: wire.OptionalText({ examples: ['ger'] }),
    subtitles_language: wire.OptionalText({ examples: ['eng'] }),
    stop_objects: wire.OptionalText({ examples: ['ANUS_EXPOSED'] }),
    client_user_id: wire.OptionalText({ examples: ['u-42'] }),
    client_entity_data: wire.OptionalText({ examples: ['{"lesson": 7}'] }),
  },
  {
    title: 'AiTaskData',
    description: 'What the task was asked to do. Options that were not given are left out.',
  },
);

const processingTimeSchema = wire.Named('AiTaskProcessingTime', {
  // The published contract allows null in the other two, but not here, nor in `result` and the pointers of a page.
  started_at: Type.Optional(wire.Timestamp('When work on the task first started; left out until then.')),
  completed_at: wire.nullable(wire.Timestamp('When the task ended, with any status; null until then.')),
  total_time_sec: wire.nullable(
    Type.Number({ description: 'From start to end; null until both are known.', examples: [12.5] }),
  ),
});

const listed = {
  task_id: Type.String({ format: 'uuid', examples: [EXAMPLE_ID] }),
  status: Status(
    'PENDING waits for resources, RECEIVED is taken by an engine, STARTED is running, RETRY failed because of an internal error and is queued again; SUCCESS, FAILURE and REVOKED (cancelled) are final.',
  ),
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'In percent', examples: [0] }),
  processing_time: processingTimeSchema,
  task_data: taskDataSchema,
};

export const listedAiTaskSchema = wire.Named('ListedAiTask', listed);

export const aiTaskSchema = wire.Named('AiTask', {
  ...listed,
  result: wire.nullable(
    Type.Object(
      {},
      {
        additionalProperties: true,
        ...wire.NULL_AS_ABSENT,
        description: 'What was found, or `error` with the reason of a failure. Null until there is a result.',
        examples: [{ error: 'Unsupported file type: text/html' }],
      },
    ),
  ),
  frame_rate: Type.Optional(
    Type.Number({
      description:
        'Frames of a second of the film, at which they are numbered: `frame_number` divided by it is a time in seconds. Left out for sound, and until there is a result.',
      examples: [23.976],
    }),
  ),
  waiting_for: wire.OptionalText({
    description:
      'Only while the task is PENDING and no running engine can do its kind: what is missing, as a text for people.',
    examples: ['transcription: no engine for it is running now. The task waits for one.'],
  }),
});

const pageBit = (description: string) =>
  wire.TextOrNull({ description, examples: ['page=2&limit=5'], ...wire.NULL_AS_ABSENT });

export const aiTaskListSchema = wire.Named('AiTaskList', {
  count: Type.Integer({ description: 'Number of all matches, not only those on this page' }),
  next: pageBit(
    'The query that gets the next page, with the limit and the filters of this one; null on the last page.',
  ),
  previous: pageBit('The query that gets the page before; null on the first page.'),
  results: Type.Array(listedAiTaskSchema),
});

export const AiTaskParams = Type.Object({ task_id: Type.String({ description: 'AI task ID' }) });

export const AiTaskListQuery = wire.Query({
  task_id: wire.OptionalText({ maxLength: 255, description: 'The whole ID. Text that is not a UUID matches no task.' }),
  task_name: Type.Optional(TaskName('Type of task')),
  status: Type.Optional(Status('Current status')),
  date_created: wire.OptionalText({
    maxLength: 64,
    description:
      'When the task was created, in ISO 8601: every task of that day, hour, minute, second or fraction of a second. UTC unless an offset is given.',
    examples: ['2026-11-21', '2026-11-21T10:15Z'],
  }),
  ordering: wire.OptionalChoice(ORDERINGS, {
    description:
      'Ascending order by this field. Left out: tasks that have not started first, then the latest start first.',
  }),
  search: wire.OptionalText({
    maxLength: MAX_ENTITY_DATA,
    description: 'Part of the task ID, the task name, the status or a value of the task data, in any letter case.',
    examples: ['nsfw'],
  }),
  page: wire.OptionalInteger({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 1,
    description: 'Pages past the last one are empty.',
  }),
  limit: wire.OptionalInteger({ minimum: 1, maximum: MAX_PAGE_SIZE, default: 10, description: 'Results per page' }),
});
export type AiTaskListQuery = Static<typeof AiTaskListQuery>;

export const AiInfoQuery = wire.Query({
  type: wire.Choice(['language_support'], 'What to ask for'),
  audio_language: Type.String({
    maxLength: 3,
    description: 'Spoken language, as an ISO 639-2 code',
    examples: ['ger'],
  }),
  subtitles_language: wire.OptionalText({
    maxLength: 3,
    description: 'Language of the subtitles; if left out, the spoken language',
    examples: ['eng'],
  }),
});

export const languageSupportSchema = wire.Named('LanguageSupport', {
  supported: Type.Boolean({ description: 'Whether the engines that are installed now support it' }),
});
