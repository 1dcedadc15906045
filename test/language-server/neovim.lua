-- Edits gateway.yaml in Neovim as a person would, and writes what Neovim shows as JSON to standard output.

local LIMIT_MS = 20000

local function wait(event, has_come)
  if vim.wait(LIMIT_MS, has_come, 10) then return end
  io.stderr:write('timed out: ' .. event .. '\n')
  vim.cmd('cquit')
end

local function shown()
  return vim.tbl_map(function(diagnostic)
    return string.format('%d:%d %s', diagnostic.lnum + 1, diagnostic.col + 1, diagnostic.code)
  end, vim.diagnostic.get(0))
end

local function request(method, params)
  local _, response = next(vim.lsp.buf_request_sync(0, method, params, LIMIT_MS))
  return response.result
end

local function line() return vim.fn.getline('.') end

local seen = {}

-- A mistake, and its quick fix.
vim.fn.search('method: GET')
vim.cmd('normal! wwcwget')
wait('a diagnostic', function() return #shown() > 0 end)
seen.mistake = shown()
local params = vim.lsp.util.make_range_params()
params.context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics() }
local action = request('textDocument/codeAction', params)[1]
seen.action = action.title
vim.lsp.util.apply_workspace_edit(action.edit, 'utf-16')
wait('no diagnostics', function() return #shown() == 0 end)
seen.fixed = line()

-- The name of an upstream.
vim.fn.search('upstream: contacts')
vim.cmd('normal! ww')
local place = vim.lsp.util.make_position_params()
seen.hover = request('textDocument/hover', place).contents.value
seen.completion = vim.tbl_map(function(item) return item.label end, request('textDocument/completion', place))
vim.lsp.buf.rename('people')
wait('the new name', function() return line():find('people') ~= nil end)
seen.renamed = line()
vim.lsp.buf.definition()
wait('the definition', function() return line():find('^  people:') ~= nil end)

vim.fn.setline('.', '  people:   {url: "http://127.0.0.1:7001"}')
vim.lsp.buf.formatting_sync(nil, LIMIT_MS)
seen.formatted = line()
vim.cmd('wall')
io.stdout:write(vim.json.encode(seen))
