-- Whether a list has a row that begins with these values: how sets name single kernels.
return function(list, values)
    for _, row in ipairs(list) do
        local same = true
        for i, value in ipairs(values) do
            same = same and row[i] == value
        end
        if same then
            return true
        end
    end
    return false
end
