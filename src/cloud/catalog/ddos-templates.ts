import { type Static, Type } from 'typebox';
import { listOf } from '../../lib/wire.ts';
import { type DdosTemplate, ddosFieldFields, ddosTemplateFields } from './schema.ts';

const DdosTemplateField = Type.Object(ddosFieldFields, {
  title: 'DdosTemplateField',
  description: 'One value that a profile made from the template has.',
});

export const DdosTemplateAnswer = Type.Object(
  { ...ddosTemplateFields, fields: Type.Array(DdosTemplateField) },
  { title: 'DdosTemplate', description: 'What a DDoS protection profile is made from.' },
);
export type DdosTemplateAnswer = Static<typeof DdosTemplateAnswer>;
export const DdosTemplateList = listOf(DdosTemplateAnswer, 'DdosTemplateList');

export function presentDdosTemplate(template: DdosTemplate): DdosTemplateAnswer {
  const { regions: _, ...shown } = template;
  return shown;
}
