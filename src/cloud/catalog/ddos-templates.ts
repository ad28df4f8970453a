import { type Static, Type } from 'typebox';
import { listOf } from '../../lib/wire.ts';
import { type DdosTemplate, ddosFieldFields, ddosTemplateFields } from './schema.ts';

const DdosTemplateField = Type.Object(ddosFieldFields, {
  title: 'DdosTemplateField',
  description: 'A field that a profile based on the template can set.',
});

export const DdosTemplateAnswer = Type.Object(
  { ...ddosTemplateFields, fields: Type.Array(DdosTemplateField) },
  { title: 'DdosTemplate', description: 'A template for DDoS protection profiles.' },
);
export type DdosTemplateAnswer = Static<typeof DdosTemplateAnswer>;
export const DdosTemplateList = listOf(DdosTemplateAnswer, 'DdosTemplateList');

export function presentDdosTemplate(template: DdosTemplate): DdosTemplateAnswer {
  const { regions: _, ...shown } = template;
  return shown;
}
