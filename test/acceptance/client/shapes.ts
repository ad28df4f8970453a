/** As much of the answers as the walk reads by name; each answer is compared with the whole document as it comes. */
export interface TaskIds {
  tasks: string[];
}

export interface Task {
  id: string;
  task_type: string;
  state: 'NEW' | 'RUNNING' | 'FINISHED' | 'ERROR';
  error: string | null;
  created_resources: Record<string, (string | number)[]> | null;
}

export interface Page<Item> {
  count: number;
  results: Item[];
}

/** Nearly everything in a cloud. */
export interface Resource {
  id: string;
  name: string;
}

export interface Tag {
  key: string;
  value: string;
  read_only: boolean;
}
