const STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
pre, code { font: 0.85rem/1.5 monospace; overflow-wrap: anywhere }
pre { white-space: pre-wrap; padding: 0.75rem; border: 1px solid; border-radius: 4px }
th, td { padding: 0.1rem 1rem 0.1rem 0; text-align: left; vertical-align: top }`;

/** Returns the page of the sandbox as HTML. Only the Markdown of that page is supported: no block contains an empty line. */
export function htmlPage(title: string, markdown: string): string {
  const blocks = markdown.trimEnd().split(/\n{2,}/);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<main>
${blocks.map(htmlBlock).join('\n')}
</main>
</html>
`;
}

function htmlBlock(block: string): string {
  const lines = block.split('\n');
  const [, hashes, heading = ''] = /^(#{1,3}) (.*)$/.exec(block) ?? [];
  if (hashes !== undefined) return `<h${hashes.length}>${inline(heading)}</h${hashes.length}>`;
  if (block.startsWith('```')) return `<pre><code>${escapeHtml(lines.slice(1, -1).join('\n'))}</code></pre>`;
  if (block.startsWith('- ')) return `<ul>${lines.map((line) => `<li>${inline(line.slice(2))}</li>`).join('')}</ul>`;
  if (block.startsWith('| ')) return htmlTable(lines);
  return `<p>${inline(block)}</p>`;
}

function htmlTable([header = '', , ...rows]: readonly string[]): string {
  const htmlRow = (line: string, open: string) => {
    const cells = line.split('|').slice(1, -1);
    return `<tr>${cells.map((cell) => open + inline(cell.trim())).join('')}`;
  };
  return `<table>${htmlRow(header, '<th scope="col">')}${rows.map((row) => htmlRow(row, '<td>')).join('')}</table>`;
}

function inline(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]*)`/g, '<code>$1</code>')
    .replace(/http:[^\s,]+/g, '<a href="$&">$&</a>');
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
