import { presentedTags } from './tag-list.ts';
import { offsetTimestamp } from './timestamps.ts';

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
