import { type Static, Type } from 'typebox';
import { listOf, Named } from '../../../lib/wire.ts';
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

export const DdosAccessibility = Named('DdosAccessibility', {
  is_accessible: Type.Boolean({ description: 'Whether the region has advanced DDoS protection' }),
  http_code: Type.Integer({ description: 'The answer as a status: 200, or 404 if there is none' }),
  message: Type.String({ description: 'The same in words' }),
});
export const DdosCoverage = Named('DdosCoverage', {
  is_covered: Type.Boolean({ description: 'Whether the region has advanced DDoS protection' }),
});
