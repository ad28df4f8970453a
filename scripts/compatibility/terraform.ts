/** What a module is taken through, in this order. */
export const STEPS = ['create', 'no drift', 'update', 'replace', 'import', 'destroy'] as const;
export type Step = (typeof STEPS)[number];

/** A step that fails, or a plan that isn't empty, with any server or with this one. */
export interface Fault {
  /** The folder of the module that shows it. */
  module: string;
  step: Step;
  /** The type of the resource in the table, with `data.` before that of a data source. */
  resource: string;
  /** What the plan after the step would change: all of it, such as `gcore_network.main: type`. */
  drift?: string[];
  /** Else a part of what the failed step says. */
  error?: string;
  owner: 'provider' | 'server';
  /** A sentence for docs/reference/compatibility.md. */
  says: string;
  /** Where the provider's source shows it: `gcore/resource_gcore_network.go:281`. */
  source?: string;
}

/** The faults of each step, by resource, as the documentation tells them: none if all went well. */
export type ResourceSteps = Record<string, Partial<Record<Step, string[]>>>;

export function faultText({ owner, says, source }: Fault): string {
  return `${owner}: ${says}${source === undefined ? '' : ` (\`${source}\`)`}`;
}

/** A row for each resource, and a numbered list of the faults. */
export function resourceTable(client: string, resources: ResourceSteps): string {
  const numbers = new Map<string, number>();
  const numbered = (text: string): string => {
    if (!numbers.has(text)) numbers.set(text, numbers.size + 1);
    return `${text.slice(0, text.indexOf(':'))}, ${numbers.get(text)}`;
  };
  const cell = (texts: string[] | undefined): string =>
    texts?.length === 0 ? 'ok' : (texts ?? []).map(numbered).join('; ');
  const rows = Object.entries(resources).map(
    ([name, steps]) => `| \`${name}\` | ${STEPS.map((step) => cell(steps[step])).join(' | ')} |`,
  );
  const faults = [...numbers].map(([text, number]) => `${number}. ${text}`);
  return `#### ${client}

| resource | ${STEPS.join(' | ')} |
|---|${STEPS.map(() => '---|').join('')}
${rows.join('\n')}
${faults.length === 0 ? '' : `\n${faults.join('\n')}\n`}`;
}
