import { Type } from 'typebox';
import { presentedTags } from './tags.ts';
import { offsetTimestamp } from './time.ts';
import { Named, OffsetTimestamp, TextOrNull } from './wire.ts';

/** Fields that the answers of all resources with tags and tasks share. */

export const TagAnswer = Named('ResourceTag', {
  key: Type.String({ examples: ['env'] }),
  value: Type.String({ examples: ['production'] }),
  read_only: Type.Boolean({
    description: 'Whether the platform set the tag; users cannot remove such a tag.',
    examples: [false],
  }),
});

export const TaggedFields = { tags: Type.Array(TagAnswer, { description: 'Tags' }) };

export const PlaceFields = {
  project_id: Type.Integer({ description: 'Project ID', examples: [1] }),
  region: Type.String({ description: 'Region name', examples: ['Region 1'] }),
  region_id: Type.Integer({ description: 'Region ID', examples: [1] }),
};

export const TaskFields = {
  creator_task_id: TextOrNull({ description: 'Task that created the resource' }),
  task_id: TextOrNull({ description: 'Task that locks the resource, which can be changed while this is null' }),
};

export const ResourceFields = {
  ...TaggedFields,
  ...PlaceFields,
  ...TaskFields,
  created_at: OffsetTimestamp(),
  updated_at: OffsetTimestamp(),
};

const EXAMPLE_ID = '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a';

export const Uuid = (description: string) => Type.String({ format: 'uuid', description, examples: [EXAMPLE_ID] });

export const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

/** A pattern, because the `uuid` format of validators also accepts `urn:uuid:...`. */
export const UuidInput = (description: string) =>
  Type.String({
    pattern: UUID_PATTERN,
    rule: `Must be a UUID, such as ${EXAMPLE_ID}.`,
    description,
    examples: [EXAMPLE_ID],
  });

/** Returns the fields that all answers of resources with tags and tasks share. */
export function commonFields<Project extends number | null, Task extends string | null>(
  row: {
    project_id: Project;
    tags: Record<string, string>;
    creator_task_id: Task;
    task_id: string | null;
    created_at: Date;
  },
  scope: { regionId: number; region: { display_name: string } },
) {
  const tags = presentedTags(row.tags);
  return {
    tags,
    // Older clients read tags under this name. If they expect another form, the presenter overrides it.
    metadata: tags,
    project_id: row.project_id,
    region: scope.region.display_name,
    region_id: scope.regionId,
    creator_task_id: row.creator_task_id,
    task_id: row.task_id,
    created_at: offsetTimestamp(row.created_at),
  };
}
