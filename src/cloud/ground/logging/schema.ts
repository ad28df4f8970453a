import { type Static, Type } from 'typebox';
import * as wire from '../../../lib/wire.ts';

export const LONGEST_TOPIC_NAME = 223;
const MOST_RETENTION_DAYS = 1_825;
/**
 * A log topic: labels of lower-case letters, digits and inner hyphens, joined by dots. No repetition is nested in
 * another one over the same characters, so matching takes linear time.
 */
export const TOPIC_NAME_PATTERN = '^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\\.[a-z0-9]+(?:-+[a-z0-9]+)*)*$';

export const RetentionPolicy = Type.Object(
  {
    period: wire.orNull(
      Type.Integer({
        minimum: 1,
        maximum: MOST_RETENTION_DAYS,
        description: 'Number of days; null keeps logs forever.',
        examples: [45],
      }),
    ),
  },
  { title: 'LogRetentionPolicy', description: 'How long logs are kept.', additionalProperties: false },
);

export const TopicName = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: LONGEST_TOPIC_NAME,
    pattern: TOPIC_NAME_PATTERN,
    rule: 'Must consist of lower-case letters, digits and hyphens, in parts joined by dots; each part must start and end with a letter or digit.',
    description,
    examples: ['my-log-name'],
  });

export const NAMESPACE = {
  pattern: '^[a-z0-9]{2,32}$',
  rule: 'Must be 2 to 32 lower-case letters and digits.',
};

const Namespace = wire.TextOrNull({
  ...NAMESPACE,
  description:
    "Prefix of the topic names at the log brokers. Unique in the region; it can't be changed while logging is initialised.",
  examples: ['acme'],
});

export const LoggingStatus = wire.Named('LoggingStatus', {
  is_initialized: Type.Boolean({
    description: 'Whether logging is enabled for the project in this region',
  }),
  namespace: Namespace,
});
export type LoggingStatus = Static<typeof LoggingStatus>;

export const UpdateLoggingStatus = Type.Object(
  {
    is_initialized: Type.Boolean({
      description: 'True enables logging; false disables it and releases the namespace and the user',
    }),
    namespace: Type.Optional(Namespace),
  },
  {
    title: 'UpdateLoggingStatus',
    description: 'Without a namespace, the project gets one derived from its ID.',
    additionalProperties: false,
    examples: [{ is_initialized: true, namespace: null }],
  },
);
export type UpdateLoggingStatus = Static<typeof UpdateLoggingStatus>;

const IndexPattern = Type.Object(
  { id: Type.String({ minLength: 1, maxLength: 255, description: 'ID of the pattern', examples: ['logs'] }) },
  {
    title: 'LogIndexPattern',
    description: 'Index pattern that dashboards use to find the logs.',
    additionalProperties: false,
  },
);
const size = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [0] };

export const PutTopic = wire.Input(
  'PutLogTopic',
  {
    name: TopicName('Topic'),
    retention_policy: Type.Optional(wire.orNull(RetentionPolicy)),
    index_pattern: Type.Optional(wire.orNull(IndexPattern)),
    size_in_bytes: wire.OptionalInteger({ ...size, default: 0, description: 'Size of the stored logs in bytes' }),
  },
  { name: 'web.access', retention_policy: { period: 45 } },
);
export type PutTopic = Static<typeof PutTopic>;

export const TopicAnswer = Type.Object(
  {
    name: Type.String({ description: 'Topic', examples: ['web.access'] }),
    retention_policy: wire.orNull(RetentionPolicy),
    index_pattern: wire.orNull(IndexPattern),
    size_in_bytes: Type.Integer({ ...size, description: 'Size of the stored logs in bytes' }),
  },
  { title: 'LogTopic', description: 'A log topic.' },
);
export type TopicAnswer = Static<typeof TopicAnswer>;
export const TopicList = wire.listOf(TopicAnswer, 'LogTopicList');
export const TopicListQuery = wire.Query(wire.listQuery());

export const LoggingUser = Type.Object(
  {
    username: Type.String({ description: 'User name for the log brokers', examples: ['acme'] }),
    password: Type.String({ description: 'Shown only once' }),
  },
  { title: 'LoggingUser', description: 'Credentials for the log brokers (SASL SCRAM-SHA-512).' },
);

export const NamespaceAvailability = wire.Named('LoggingNamespace', {
  namespace: Type.String({ description: 'Namespace', examples: ['acme'] }),
  available: Type.Boolean({ description: 'Whether the project can use it' }),
});

export const NamespaceParams = wire.PlaceParams({ namespace_name: 'Namespace' });
export const TopicParams = wire.PlaceParams({ topic_name: 'Topic' });
