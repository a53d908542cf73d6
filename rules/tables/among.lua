-- Whether a list has a row that begins with these values, and the place of the first: how sets name single kernels.
return function(list, values)
    for place, row in ipairs(list) do
        local same = true
        for i, value in ipairs(values) do
            same = same and row[i] == value
        end
        if same then
            return true, place
        end
    end
    return false
end
