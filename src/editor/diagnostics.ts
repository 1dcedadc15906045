import { pathToFileURL } from 'node:url';
import { type Diagnostic, DiagnosticSeverity, type Range as EditorRange } from 'vscode-languageserver';
import type { Range, Severity } from '../engine/problem/finding.ts';
import type { Problem } from '../engine/problem/problem.ts';

/** The name that editors show beside a message. */
const SOURCE = 'signing-gateway';

const SEVERITIES: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
};

/** Converts a problem to the form of the protocol. */
export function toDiagnostic({ rule, severity, file, range, message, related }: Problem): Diagnostic {
  const uri = pathToFileURL(related?.file ?? file).href;
  return {
    range: toEditorRange(range),
    severity: SEVERITIES[severity],
    source: SOURCE,
    code: rule,
    message,
    ...(related && {
      relatedInformation: [{ location: { uri, range: toEditorRange(related.range) }, message: related.message }],
    }),
  };
}

/** Converts a range that counts from 1 to one that counts from 0. */
export function toEditorRange({ line, column, endLine, endColumn }: Range): EditorRange {
  return {
    start: { line: line - 1, character: column - 1 },
    end: { line: endLine - 1, character: endColumn - 1 },
  };
}
