import type { Foundation } from '../../../foundation.ts';
import type { Tasks } from '../tasks/service.ts';
import { createProjectChanges } from './changes.ts';
import { createProjects } from './service.ts';

export function wireProjects(deps: Foundation & { tasks: Tasks }) {
  const projects = createProjects(deps);
  return { projects, projectChanges: createProjectChanges({ ...deps, projects }) };
}
